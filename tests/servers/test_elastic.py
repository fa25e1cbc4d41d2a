"""Elasticsearch keeps the contract, ranks as tantivy does, and loses nothing when it is killed."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

import core
from core.adapters.keyword.elastic import ElasticKeywordIndex
from core.adapters.keyword.tantivy import TantivyKeywordIndex
from core.errors import StoreUnavailable, WrongIndex
from core.ports import KeywordIndex
from core.text.analysis import analyse
from core.text.vocabulary import PLAIN
from tests.builders import on_servers
from tests.contracts.consistency import ConsistencyContract
from tests.contracts.keyword_index import (
    BOTH,
    HEAD,
    HISTORY,
    NOTHING,
    NOTHING_TO_ASK,
    ODD_BUT_FOUND,
    OTHER_FORMS,
    KeywordIndexContract,
    generated_rows,
    ids_of,
    questions,
    row,
)
from tests.servers.proxy import Answer, Send, before, certificate

KEY = "a-key-of-the-test"
LAST = 400
NOBODY = "http://127.0.0.1:9"

JAPANESE = (
    "測定器の校正は年に一度、専門の技術者が行います。",
    "出張の旅費は帰着から十日以内に精算してください。",
    "製品の保守手順書には安全のための注意が書かれています。",
    "品質会議では在庫の確認と新しい検査の方法について話し合った。",
    "防災計画に従い、全員が避難の訓練に参加する。",
    "就業規則によれば、在宅勤務は週に三日まで認められる。",
)
ENGLISH = (
    "The calibration of the instrument is checked by an engineer every year.",
    "Travel expenses are reported within ten days after the journey.",
    "The coating hall must be left when the level of oxygen falls.",
    "Deleted files on the shared drive can be brought back for some weeks.",
    "Employees may work from home on three days of the week.",
    "The meeting discussed the stock of spare parts and the new price list.",
)


@pytest.fixture(scope="module")
def shared(elastic: Any) -> Iterator[ElasticKeywordIndex]:
    """One index for many tests: making and removing two indexes takes longer than emptying them."""
    opened = ElasticKeywordIndex(elastic.url, name="contract")
    yield opened
    opened.close()


@pytest.fixture
def index(shared: ElasticKeywordIndex) -> ElasticKeywordIndex:
    shared.clear()
    shared.use(PLAIN, PLAIN)
    return shared


@pytest.fixture(scope="module", autouse=True)
def expunging(elastic: Any) -> Iterator[Future[None]]:
    """Remove rows for good beside the other tests: the server lets go of them twice a minute only."""
    contract, opened = KeywordIndexContract(), ElasticKeywordIndex(elastic.url, name="expunged")
    with ThreadPoolExecutor(max_workers=1) as beside:
        yield beside.submit(contract.test_nothing_is_left_of_deleted_rows_once_the_others_were_written_again, opened)
    opened.close()


class TestElasticKeywordIndex(KeywordIndexContract):
    """The contract; where a test has many cases they share one index, which takes a second to make."""

    @pytest.mark.parametrize("cases", [ODD_BUT_FOUND], ids=["all"])
    def test_odd_question_is_literal_text(self, index: KeywordIndex, cases: Sequence[tuple[str, str]]) -> None:
        for question, text in cases:
            super().test_odd_question_is_literal_text(index, question, text)

    @pytest.mark.parametrize("cases", [NOTHING_TO_ASK], ids=["all"])
    def test_question_without_a_word_has_no_hits(self, index: KeywordIndex, cases: Sequence[str]) -> None:
        for question in cases:
            super().test_question_without_a_word_has_no_hits(index, question)

    def test_nothing_is_left_of_deleted_rows_once_the_others_were_written_again(self, expunging: Future[None]) -> None:
        expunging.result(timeout=240)


def test_ranks_and_scores_are_those_of_tantivy(index: ElasticKeywordIndex, tmp_path: Path) -> None:
    local = TantivyKeywordIndex(tmp_path)
    texts = (*JAPANESE, *ENGLISH, *(text for _, text in OTHER_FORMS))
    rows = [*generated_rows(300), *(row(1000 + n, text) for n, text in enumerate(texts))]
    for each in (index, local):
        each.upsert(rows)
    for question in (
        *questions(10),
        *JAPANESE,
        *ENGLISH,
        "旅費の精算はいつまで",
        "When are expenses reported?",
        *(asked for asked, _ in OTHER_FORMS),
    ):
        theirs, ours = index.search(question, 10, [HEAD]), local.search(question, 10, [HEAD])
        assert [hit.chunk_id for hit in theirs] == [hit.chunk_id for hit in ours]
        assert [hit.score for hit in theirs] == pytest.approx([hit.score for hit in ours], rel=1e-5)
    local.close()


def test_analyser_of_the_server_gives_the_tokens_of_ours(index: ElasticKeywordIndex, elastic: Any) -> None:
    index.open()
    with Elasticsearch(elastic.url) as client:
        for text in JAPANESE + ENGLISH:
            reply = client.indices.analyze(index="contract-head", field="content", text=text)
            theirs, ours = Counter(token["token"] for token in reply["tokens"]), Counter(analyse(text))
            assert (theirs & ours).total() >= 0.99 * ours.total(), (theirs - ours, ours - theirs)


def test_code_is_found_whole_by_others_who_search_the_server(index: ElasticKeywordIndex, elastic: Any) -> None:
    index.upsert([row(1, "Order PPR-9087 has left."), row(2, "Order PPR 9087 has left."), row(3, "注文は届いた。")])
    with Elasticsearch(elastic.url) as client:
        for field, text, expected in (("content.exact", "ppr-9087", ["1"]), ("content", "届く", ["3"])):
            found = client.search(index="contract", query={"match": {field: {"query": text}}})
            assert [hit["_id"] for hit in found["hits"]["hits"]] == expected


def test_nothing_is_lost_or_twice_when_the_server_is_killed_while_rows_are_written(elastic: Any) -> None:
    index = ElasticKeywordIndex(elastic.url, name="killed", timeout_s=30.0)
    index.clear()
    acknowledged: list[int] = []
    moment = random.randint(1, 12)

    def written(rows: Sequence[core.ports.KeywordRow]) -> None:
        """Write as the projector does: until the store has taken it."""
        until = time.monotonic() + 240
        while True:
            try:
                return index.upsert(rows)
            except StoreUnavailable:
                assert time.monotonic() < until
                time.sleep(0.2)

    def write() -> None:
        for start in range(0, LAST, 20):
            written([row(start + n, f"harbour number{start + n}") for n in range(20)])
            written([row(start, "harbour moved", HISTORY)])
            acknowledged.append(start)

    with ThreadPoolExecutor(max_workers=1) as beside:
        writing = beside.submit(write)
        while len(acknowledged) < moment:
            time.sleep(0.01)
        elastic.kill()
        with pytest.raises(StoreUnavailable):
            index.search("harbour", 5, BOTH)
        elastic.restart()
        writing.result(timeout=300)
    moved = set(range(0, LAST, 20))
    assert sorted(index.ids()) == [(n, HISTORY if n in moved else HEAD) for n in range(LAST)]
    assert dict(index.count()) == {HEAD: LAST - LAST // 20, HISTORY: LAST // 20}
    assert ids_of(index, f"number{LAST - 1}") == [LAST - 1]
    index.close()


def test_rows_that_a_busy_server_did_not_take_are_sent_again(elastic: Any) -> None:
    refused: list[int] = []

    def half(key: str, path: str, body: bytes, send: Send) -> Answer:
        lines = body.splitlines(keepends=True)
        if not path.startswith("/_bulk") or refused or len(lines) < 4:
            return send(body)
        status, content = send(b"".join(lines[: len(lines) // 2]))
        reply = json.loads(content)
        for line in lines[len(lines) // 2 :: 2]:
            busy = {"status": 429, "error": {"type": "es_rejected_execution_exception"}}
            refused.append(int(json.loads(line)["index"]["_id"]))
            reply["items"].append({"index": busy})
        return status, json.dumps(reply | {"errors": True}).encode()

    with before(elastic.url, half) as url:
        index = ElasticKeywordIndex(url, name="busy")
        index.clear()
        index.upsert([row(n, "harbour") for n in range(10)])
        assert refused == [5, 6, 7, 8, 9]
        assert ids_of(index, "harbour") == list(range(10))
        index.close()


def test_row_that_the_server_refuses_is_an_error_without_its_text(elastic: Any) -> None:
    def spoilt(key: str, path: str, body: bytes, send: Send) -> Answer:
        return send(body.replace(b'"doc_id":1,', b'"doc_id":"secret words",'))

    with before(elastic.url, spoilt) as url:
        index = ElasticKeywordIndex(url, name="busy")
        with pytest.raises(StoreUnavailable, match="document_parsing_exception") as caught:
            index.upsert([row(1, "secret words")])
        assert "secret" not in str(caught.value.as_dict())
        index.close()


def test_server_is_reached_by_tls_with_a_key(elastic: Any, tmp_path: Path) -> None:
    made = certificate(tmp_path)

    def guarded(key: str, path: str, body: bytes, send: Send) -> Answer:
        return send(body) if key == f"ApiKey {KEY}" else (401, b'{"error": {"type": "security_exception"}}')

    with before(elastic.url, guarded, made) as url:
        index = ElasticKeywordIndex(url, name="guarded", key=KEY, ca_file=str(made[0]))
        index.upsert([row(1, "harbour")])
        assert ids_of(index, "harbour") == [1]
        index.close()
        for key, authority in (("wrong", str(made[0])), ("", str(made[0])), (KEY, "")):
            stranger = ElasticKeywordIndex(url, name="guarded", key=key, ca_file=authority)
            with pytest.raises(StoreUnavailable) as caught:
                stranger.search("harbour", 5, BOTH)
            said = f"{caught.value.as_dict()} {caught.value!r} {stranger!r}"
            assert not any(secret in said for secret in (KEY, "wrong", url))
            stranger.close()


def test_server_that_is_not_there_is_an_error_and_never_no_hits() -> None:
    index = ElasticKeywordIndex(NOBODY, timeout_s=1.0, attempts=2)
    for act in (
        lambda: index.search("harbour", 5, BOTH),
        lambda: index.upsert([row(1, "harbour")]),
        lambda: index.delete([1]),
        lambda: index.count(),
        lambda: list(index.stored()),
        lambda: index.clear(),
        lambda: index.expunge([1]),
    ):
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            act()
    index.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        index.search("harbour", 5, BOTH)


def test_index_that_somebody_removed_is_an_error_and_never_no_hits(elastic: Any) -> None:
    index = ElasticKeywordIndex(elastic.url, name="removed")
    index.clear()
    index.upsert([row(1, "harbour")])
    with Elasticsearch(elastic.url) as client:
        client.indices.delete(index="removed-head-000001")
    with pytest.raises(StoreUnavailable, match="index_not_found_exception"):
        index.search("harbour", 5, [HEAD])
    with pytest.raises(StoreUnavailable):
        index.upsert([row(2, "harbour")])
    index.clear()
    assert dict(index.count()) == NOTHING
    index.close()


def test_index_of_another_analyser_is_refused_until_it_is_emptied(elastic: Any) -> None:
    made = ElasticKeywordIndex(elastic.url, name="older")
    made.clear()
    made.upsert([row(1, "harbour")])
    made.close()
    with Elasticsearch(elastic.url) as client:
        client.indices.put_mapping(index="older-head", meta={"analyser": "another", "format": 1})
    index = ElasticKeywordIndex(elastic.url, name="older")
    with pytest.raises(WrongIndex):
        index.search("harbour", 5, BOTH)
    index.clear()
    assert dict(index.count()) == NOTHING
    index.close()


def test_faults_of_the_index_of_a_knowledge_base_are_found_and_mended(elastic: Any, tmp_path: Path) -> None:
    with on_servers(tmp_path, keyword_url=elastic.url, index_name="KB_Checked") as kb:
        ConsistencyContract().test_every_fault_is_found_named_and_mended(kb, "keyword")
        assert {"Elasticsearch"} == {
            leg.engine for leg in [core.EvoRAG(kb=kb).ask("When does the ferry leave?").keyword]
        }
