"""Settings come from variables, and secrets from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.settings import Settings


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


def test_knowledge_is_shared_where_its_catalogue_is_on_a_server() -> None:
    assert not Settings().is_shared
    assert Settings(catalog_url="postgresql+psycopg://db/evorag").is_shared  # type: ignore[arg-type]
