"""Bulk requests stay within their size; errors hold neither address nor key."""

from __future__ import annotations

import time
from threading import Thread

import pytest

from core.adapters.keyword import elastic_server
from core.adapters.keyword.elastic_server import ElasticServer, deleted, written
from core.errors import StoreUnavailable

NOBODY = "http://somebody:secret@127.0.0.1:9"


def test_operations_are_sent_in_their_order_in_requests_of_bounded_size() -> None:
    operations = [written("i", n, {"content": "x" * 1_000_000}) for n in range(7)]
    operations += [written("i", 7, {"content": "x" * 9_000_000}), *(deleted("i", n) for n in range(8, 2_500))]
    batches = list(elastic_server._batches(operations))
    assert [operation for batch in batches for operation in batch] == operations
    for batch in batches:
        size = sum(len(line) for operation in batch for line in operation)
        assert len(batch) <= 1_000
        assert size <= 5_000_000 or len(batch) == 1
    assert list(elastic_server._batches([])) == []


def test_error_says_neither_address_nor_password_nor_key() -> None:
    server = ElasticServer(NOBODY, "", "", 0.5, 1)
    with pytest.raises(StoreUnavailable) as caught:
        server.read(lambda client: client.info())
    assert not any(word in f"{caught.value!r} {caught.value.as_dict()}" for word in ("secret", "somebody", "127.0.0.1"))
    server.close()


@pytest.mark.parametrize("address", ["nonsense", "http://:secret@"])
def test_address_that_cannot_be_used_is_told_without_repeating_it(address: str) -> None:
    with pytest.raises(StoreUnavailable, match="address") as caught:
        ElasticServer(address, "", "", 0.5, 1)
    assert "secret" not in f"{caught.value!r} {caught.value.as_dict()}"
    assert caught.value.__cause__ is None


def test_closing_ends_the_wait_for_another_attempt() -> None:
    server = ElasticServer(NOBODY, "", "", 0.5, 1_000)
    failures: list[StoreUnavailable] = []

    def ask() -> None:
        try:
            server.read(lambda client: client.info())
        except StoreUnavailable as error:
            failures.append(error)

    asking = Thread(target=ask)
    asking.start()
    time.sleep(0.1)
    server.close()
    asking.join(timeout=60)
    assert len(failures) == 1


def test_kind_of_an_error_is_told_only_where_it_is_a_word() -> None:
    assert elastic_server._type_of({"error": {"type": "mapper_parsing_exception", "reason": "text"}}) == (
        "mapper_parsing_exception"
    )
    assert elastic_server._type_of({"error": {"type": "Text of a row."}}) == "no reason"
    assert elastic_server._type_of("<html>") == "no reason"
