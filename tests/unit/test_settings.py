"""Settings come from variables, and secrets from files."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from core.errors import InvalidInput
from core.settings import Group, Settings, retired_variables, variables_of
from tests.builders import knowledge_base

NAMED = [variable for name in Settings.model_fields for variable in variables_of(name)]
ALIAS, OWN = "ASK_PROMPT_MAX_BYTES", "EVORAG_PROMPT_MAX_BYTES"


def test_a_secret_is_read_from_its_file_unless_a_variable_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evorag_jobs_url").write_text("redis://:from-a-file@queue:6379/0\n", encoding="utf-8")
    monkeypatch.setenv("EVORAG_SECRETS_DIR", str(tmp_path))
    read = Settings()
    assert read.jobs_url.get_secret_value() == "redis://:from-a-file@queue:6379/0"
    assert "from-a-file" not in repr(read)
    monkeypatch.setenv("EVORAG_JOBS_URL", "redis://other:6379/1")
    assert Settings().jobs_url.get_secret_value() == "redis://other:6379/1"


def test_the_file_of_the_working_folder_sets_what_no_variable_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "evorag_port").write_text("9001\n", encoding="utf-8")
    (tmp_path / "secrets" / "evorag_top_k").write_text("3\n", encoding="utf-8")
    lines = 'EVORAG_TOP_K=7\nexport EVORAG_DATA_DIR="other"\nEVORAG_HOST=\nPOSTGRES_PASSWORD=x\n'
    (tmp_path / ".env").write_text(lines + "EVORAG_SECRETS_DIR=secrets\n", encoding="utf-8")
    read = Settings()
    assert (read.top_k, read.data_dir, read.host, read.port) == (7, tmp_path / "other", "127.0.0.1", 9001)
    monkeypatch.setenv("EVORAG_TOP_K", "9")
    assert Settings().top_k == 9 and Settings(top_k=4).top_k == 4


def test_the_file_of_the_working_folder_is_somebody_elses_or_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_settings(monkeypatch)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".env"
    file.write_bytes(b"EVORAG_TOP_K=\xff\n")
    with pytest.raises(InvalidInput, match=r"\.env"):
        Settings()
    file.write_text("EVORAG_TOP_K=many\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="EVORAG_TOP_K"):
        Settings()
    file.write_text("EVORAG_LLM_COMMAND=evil\n", encoding="utf-8")
    assert Settings().llm_command == "evil"
    monkeypatch.setattr("core.settings.os.geteuid", lambda: 12_345)
    if file.stat().st_uid:
        assert Settings().llm_command == ""


def test_knowledge_is_shared_where_its_catalogue_is_on_a_server() -> None:
    assert not Settings().is_shared
    assert Settings(catalog_url="postgresql+psycopg://db/evorag").is_shared  # type: ignore[arg-type]


def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in NAMED:
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("variable", NAMED)
def test_an_empty_variable_or_file_sets_nothing(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_settings(monkeypatch)
    plain = Settings()
    monkeypatch.setenv(variable, "")
    assert Settings() == plain
    monkeypatch.setenv("EVORAG_SECRETS_DIR", str(tmp_path))
    for held in ("", "\n"):
        (tmp_path / variable.lower()).write_text(held, encoding="utf-8")
        assert Settings() == plain


@pytest.mark.parametrize(("empty", "other"), [(ALIAS, OWN), (OWN, ALIAS)])
def test_an_empty_variable_leaves_the_word_to_the_other_name_and_to_the_file(
    empty: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(empty, "")
    monkeypatch.setenv("EVORAG_SECRETS_DIR", str(tmp_path))
    (tmp_path / empty.lower()).write_text(" \n", encoding="utf-8")
    (tmp_path / other.lower()).write_text("2048\n", encoding="utf-8")
    assert Settings().prompt_max_bytes == 2048
    monkeypatch.setenv(other, "4096")
    assert Settings().prompt_max_bytes == 4096


@pytest.mark.parametrize(
    ("variable", "given", "allowed"),
    [
        ("EVORAG_TOP_K", "abc", "a whole number of at least 1"),
        ("EVORAG_TEMPERATURE", "warm", "a number of at least 0"),
        ("EVORAG_LEG_TIMEOUT_S", "0", "a number above 0"),
        ("EVORAG_TOP_P", "1.5", "a number above 0 and at most 1"),
        ("EVORAG_GENERATION_SEED", "seed", "a whole number"),
        ("EVORAG_ANSWER_THRESHOLD", "nan", "a number of at least 0"),
        ("EVORAG_CACHE_ANSWERS", "perhaps", "true or false"),
        ("EVORAG_SNN_STEPS", "0", "a whole number from 1 to 256"),
        ("EVORAG_ACCESS", "opne", "auto, keys or open"),
        ("EVORAG_LOG_LEVEL", "loud", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        (ALIAS, "1k", "a whole number of at least 1"),
        (OWN, "1k", "a whole number of at least 1"),
        ("EVOSPIKENET_TEST_MODE", "2", "true or false"),
    ],
)
def test_a_wrong_value_is_told_with_its_variable_and_what_is_allowed(
    variable: str, given: str, allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_settings(monkeypatch)
    monkeypatch.setenv(variable, given)
    with pytest.raises(InvalidInput) as told:
        Settings()
    shown = given.upper() if variable == "EVORAG_LOG_LEVEL" else given
    assert told.value.message == f"{variable} has to be {allowed}, not “{shown}”."


def test_a_folder_of_secrets_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVORAG_SECRETS_DIR", str(tmp_path))
    (tmp_path / "evorag_key").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match=r"EVORAG_SECRETS_DIR cannot be read: .*key"):
        Settings()
    monkeypatch.setenv("EVORAG_SECRETS_DIR", str(tmp_path / "evorag_key"))
    with pytest.raises(InvalidInput, match="must reference a directory"):
        Settings()


def test_what_is_changed_is_named_as_variables_and_empty_means_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVORAG_TOP_K", "7")
    monkeypatch.setenv(ALIAS, "1024")
    held = Settings(catalog_url="postgresql+psycopg://db/evorag")  # type: ignore[arg-type]
    assert held.changed({"EVORAG_RRF_K": "30"}).model_dump() == {**held.model_dump(), "rrf_k": 30}
    anew = held.changed({"EVORAG_TOP_K": "", "evorag_catalog_url": "", OWN: "2048"})
    assert (anew.top_k, anew.is_shared, anew.prompt_max_bytes) == (5, False, 2048)
    assert held.changed({ALIAS: ""}).prompt_max_bytes == 16_384
    for name, message in (
        ("EVORAG_NOTHING", "is no setting"),
        ("EVORAG_TOP_K", r"EVORAG_TOP_K has to be a whole number of at least 1\.$"),
    ):
        with pytest.raises(InvalidInput, match=message):
            held.changed({name: "many"})


NUMBERS = [
    name
    for name, field in Settings.model_fields.items()
    if name != "generation_seed" and {int, float} & {field.annotation, *get_args(field.annotation)}
]


@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_may_be_below_its_bound(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = variables_of(name)[-1]
    without_settings(monkeypatch)
    monkeypatch.setenv(variable, "-1")
    with pytest.raises(
        InvalidInput, match=rf"^{variable} has to be a (whole )?number (from|of at least|above) \d.*, not “-1”"
    ):
        Settings()


def test_most_settings_are_numbers_with_bounds() -> None:
    assert len(NUMBERS) > 55


def test_a_setting_is_in_one_group_and_handed_out_there() -> None:
    chosen = Settings(top_k=7, server_threads=3, embedder="hash")
    groups = [value for name in dir(Settings) if isinstance(value := getattr(chosen, name, None), Group)]
    grouped = [(name, value) for group in groups for name, value in group]
    assert len(groups) == 12
    assert sorted(name for name, _ in grouped) == sorted(Settings.model_fields)
    assert {name: str(value) for name, value in grouped} == {name: str(value) for name, value in chosen}
    assert chosen.model_copy(update={"top_k": 9}).search.top_k == 9
    with pytest.raises(ValidationError, match="frozen"):
        chosen.search.top_k = 8  # type: ignore[misc]


def test_a_variable_that_is_no_longer_a_setting_is_told_once_and_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert retired_variables() == ()
    monkeypatch.setenv("EVORAG_EMBEDDER_BATCH", "8")
    with caplog.at_level("WARNING"), knowledge_base(tmp_path):
        pass
    told = [record.getMessage() for record in caplog.records if "EVORAG_EMBEDDER_BATCH" in record.getMessage()]
    assert told == ["EVORAG_EMBEDDER_BATCH is no longer a setting; it changes nothing."]
