"""The form of an Elasticsearch index of chunks: its fields and analysers, and the document of a row.

``terms`` are what EvoRAG searches: made by ``core.text.analysis``, as for every keyword index, so that Elasticsearch
ranks as tantivy does (the same ten passages in the same order for all of 500 questions of ``ja`` and of ``en``).
``content`` is the text for whoever searches the server by other means. Its own analyser gives 98.0 % of our tokens on
``ja`` and 97.6 % on ``en`` (``python -m benchmarks.agreement``). Two thirds of the differences on ``ja`` are of the
first two kinds, all on ``en`` of the others:

- Kuromoji divides a compound where the sentence makes that cheap, ours each noun by itself: in a sentence 共産党 stays
  whole there, alone both divide it.
- Ours reads a run of one script by itself, kuromoji the sentence: 3代目, 3月下旬, 1990年頃.
- A code or a compound is a term as a whole besides its parts with us (20.04, km2, ISO/TS, high-pressure), kuromoji
  has the parts alone; it also gives the s of a possessive and the groups of digits of 16,000.
- Our stemmer is a newer Snowball, which keeps university apart from universe and internal from intern.

Dividing whole sentences as kuromoji does was tried: 98.7 % on ``ja``, but a compound that is asked for alone would not
be found where a sentence keeps it whole, and the guard would count different words in an answer and in its passage.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from core.ports import KeywordRow
from core.text.japanese import STOP_WORDS

_STOPPED = [
    "接続詞",
    "助詞",
    "助詞-格助詞",
    "助詞-格助詞-一般",
    "助詞-格助詞-引用",
    "助詞-格助詞-連語",
    "助詞-接続助詞",
    "助詞-係助詞",
    "助詞-副助詞",
    "助詞-間投助詞",
    "助詞-並立助詞",
    "助詞-終助詞",
    "助詞-副助詞／並立助詞／終助詞",
    "助詞-連体化",
    "助詞-副詞化",
    "助詞-特殊",
    "助動詞",
    "記号",
    "記号-一般",
    "記号-句点",
    "記号-読点",
    "記号-空白",
    "記号-括弧開",
    "記号-括弧閉",
    "記号-アルファベット",
    "フィラー",
    "非言語音",
    "その他",
    "その他-間投",
]
"""Every kind of the parts of speech that ``core.text.japanese`` leaves out, as kuromoji names them."""

FORMAT = 1
"""Number of this mapping; an index of another one is filled anew."""

_FILTERS: Mapping[str, Mapping[str, Any]] = {
    "kuromoji_baseform": {},
    "parts_of_speech": {"type": "kuromoji_part_of_speech", "stoptags": _STOPPED},
    "cjk_width": {},
    "stop_words": {"type": "ja_stop", "stopwords": sorted(STOP_WORDS)},
    "long_vowel": {"type": "kuromoji_stemmer", "minimum_length": 4},
    "lowercase": {},
    "asciifolding": {},
    "english": {"type": "stemmer", "language": "porter2"},
}
"""The filters of ``content`` in their order; those without a definition are the server's own."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def settings() -> dict[str, Any]:
    """Return the settings of a new index; shards are those of the operator's index template, else one."""
    return {
        "similarity": {"default": {"type": "BM25", "k1": 1.2, "b": 0.75}},
        "auto_expand_replicas": "0-1",
        # Rows are shown when a write says so, the new ones before those that they replace are gone.
        "refresh_interval": "-1",
        # Deleted text leaves the disk when it is asked for, however few rows of a segment were deleted.
        "merge": {"policy": {"expunge_deletes_allowed": 0}},
        "analysis": {
            "analyzer": {
                "terms": {"type": "custom", "tokenizer": "whitespace"},
                "exact": {"type": "custom", "tokenizer": "whitespace", "filter": ["cjk_width", "lowercase"]},
                "content": {"type": "custom", "tokenizer": "japanese", "filter": list(_FILTERS)},
            },
            "tokenizer": {
                "japanese": {
                    "type": "kuromoji_tokenizer",
                    "mode": "search",
                    "discard_compound_token": True,
                    "discard_punctuation": True,
                }
            },
            "filter": {name: dict(definition) for name, definition in _FILTERS.items() if definition},
        },
    }


def mappings(analyser: str) -> dict[str, Any]:
    """Return the fields of rows by ``analyser``; EvoRAG searches ``terms``, ``chunk_id`` and ``doc_id`` alone."""
    keyword = {"type": "keyword", "ignore_above": 1024}
    return {
        "dynamic": "strict",
        "_meta": {"analyser": analyser, "format": FORMAT},
        # The terms are made of the content again when they are needed.
        "_source": {"excludes": ["terms"]},
        "properties": {
            "terms": {"type": "text", "analyzer": "terms", "index_options": "freqs"},
            "content": {
                "type": "text",
                "analyzer": "content",
                "fields": {"exact": {"type": "text", "analyzer": "exact", "norms": False}},
            },
            "chunk_id": {"type": "long"},
            "doc_id": {"type": "long"},
            "fingerprint": {"type": "long"},
            "part": {"type": "keyword"},
            "doc_key": keyword,
            "source_filename": keyword,
            "version": {"type": "long"},
            "checksum": {"type": "keyword", "index": False},
            "indexed_at": {"type": "date"},
        },
    }


def is_of(analyser: str, mapping: Mapping[str, Any]) -> bool:
    """Tell whether an index has these fields, and terms of an analyser."""
    meta = mapping.get("_meta", {})
    return (meta.get("analyser"), meta.get("format")) == (analyser, FORMAT)


def document(row: KeywordRow, terms: str) -> dict[str, Any]:
    """Return what is kept of a row; ``terms`` are parted by blanks."""
    content = _SURROGATE.sub(" ", row.text)
    name, _, version = _SURROGATE.sub(" ", row.source).rpartition("#v")
    return {
        "terms": terms,
        "content": content,
        "chunk_id": row.chunk_id,
        "doc_id": row.doc_id,
        "fingerprint": row.fingerprint,
        "part": row.part.value,
        "doc_key": name.lower(),
        "source_filename": name,
        "version": int(version) if version.isdecimal() else None,
        "checksum": hashlib.sha256(content.encode("utf-8")).hexdigest(),
        "indexed_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
