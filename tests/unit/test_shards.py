"""All shards together are the whole, and every shard has some cases of each family that is dealt out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests import shards
from tests.shards import SHARDS, SHARES, SWITCH, dealt, of_moment

pytest_plugins = ["pytester"]

SUITE = """
import pytest

@pytest.mark.shard
@pytest.mark.parametrize("unit", "abcdef")
@pytest.mark.parametrize("kind", range(4))
def test_growth(unit, kind): ...

@pytest.mark.shard
@pytest.mark.parametrize("part", range(4))
def test_kills(part): ...

@pytest.mark.parametrize("size", [1, *(pytest.param(size, marks=pytest.mark.shard) for size in (2, 3, 4, 5))])
def test_some_of_its_cases(size): ...

@pytest.mark.long
@pytest.mark.every_run
def test_never_left_out(): ...

def test_ordinary(): ...
"""
LONG = """
import pytest

@pytest.mark.long
@pytest.mark.parametrize("way", "xy")
def test_long(way): ...

def test_short(): ...
"""
MARKERS = "markers=shard\nlong\nevery_run"


FILES = 3 * SHARDS


def collected(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, shard: str) -> list[str]:
    """Return what a run takes of a suite."""
    monkeypatch.setenv(SWITCH, shard)
    run = pytester.inline_run("--collect-only", "-q", "-o", MARKERS, plugins=[shards])
    return [item.nodeid for item in run.getcalls("pytest_collection_finish")[0].session.items]


def test_every_case_is_in_one_shard_and_all_shards_together_are_the_whole(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_dealt=SUITE, **{f"test_file_{number}": LONG for number in range(FILES)})
    whole = collected(pytester, monkeypatch, "all")
    parts = [collected(pytester, monkeypatch, str(number)) for number in range(1, SHARDS + 1)]
    always = ("test_ordinary", "test_some_of_its_cases[1]", "test_never_left_out", "test_short")
    every = {name for name in whole if name.endswith(always)}
    assert len(whole) == 24 + 4 + 4 + 3 + 3 * FILES and len(every) == 3 + FILES
    assert all(every <= set(part) for part in parts)
    assert set().union(*parts) == set(whole)
    of_files = [name for part in parts for name in part if "test_long" in name]
    assert len(of_files) == len(set(of_files)), "a file's long tests are in one shard"
    for family in ("test_growth", "test_kills", "test_some_of_its_cases"):
        assert all(any(family in name for name in part if name not in every) for part in parts)
    long = [{name.partition("::")[0] for name in part if "test_long" in name} for part in parts]
    assert all(long) and sum(map(len, long)) == FILES, "the long tests of a file stay together"


def test_a_family_with_too_few_cases_is_refused(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile("import pytest\n@pytest.mark.shard\ndef test_alone(): ...")
    monkeypatch.setenv(SWITCH, "1")
    result = pytester.runpytest_inprocess("--collect-only", "-o", "markers=shard", plugins=[shards])
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(f"*test_alone has fewer than {SHARES} cases*")


def test_cases_are_dealt_evenly_and_not_by_their_parameters() -> None:
    cases = [f"test_growth[{unit}-{kind}]" for unit in "abcdef" for kind in range(SHARDS)]
    numbers = dealt(cases)
    assert numbers == dealt(reversed(cases))
    assert {list(numbers.values()).count(number) for number in range(1, SHARDS + 1)} == {len(cases) // SHARDS}
    of_units = [{numbers[case] for case in cases if f"[{unit}-" in case} for unit in "abcdef"]
    of_kinds = [{numbers[case] for case in cases if case.endswith(f"-{kind}]")} for kind in range(SHARDS)]
    assert any(len(found) > 1 for found in of_units) and all(len(found) > 1 for found in of_kinds)


def test_runs_at_the_same_hour_and_those_of_a_day_take_all_shards() -> None:
    for hour, step in ((12, timedelta(days=1)), (0, timedelta(hours=3))):
        first = datetime(2026, 3, 1, hour, 45, tzinfo=UTC)
        assert {of_moment(first + time * step) for time in range(SHARDS)} == set(range(1, SHARDS + 1))


def test_run_says_which_shard_it_takes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "now")
    result = pytester.runpytest_inprocess("-q", plugins=[shards])
    result.stdout.re_match_lines([rf"long tests: shard [1-9][0-9]? of {SHARDS} .*"])


@pytest.mark.parametrize("value", ["0", str(SHARDS + 1), "today", "-1"])
def test_other_words_are_refused(value: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, value)
    result = pytester.runpytest_inprocess(plugins=[shards])
    assert result.ret is pytest.ExitCode.USAGE_ERROR
