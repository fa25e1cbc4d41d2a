"""Draws a recording of spiking neurons: ``python examples/visualize_rag_neurons.py --data FILE --out FOLDER``.

``FILE`` is what ``rag_with_vis()`` writes (``rag_neuron_data.pt``), or any file of ``torch.save`` with ``spikes``, and
perhaps ``membrane_potential``, each ``(time, neurons)`` or ``(batch, time, neurons)``; of several populations each is a
dictionary by their names, or each population is a dictionary of these two. The script needs PyTorch,
NumPy and matplotlib (``pip install 'evorag[examples]'``), no network and nothing of EvoRAG: it reads the documented
format, so it runs where EvoRAG is not installed too, and shows how such a file is read.

A step of the code has no milliseconds: rates are in spikes per neuron and step, never in Hz. What is seen is a trained
language model whose values were converted to spikes, layer after layer; it is no model of a brain.
"""

from __future__ import annotations

import argparse
import pickle
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

try:
    import matplotlib
except ImportError:
    sys.exit("This needs matplotlib: pip install 'evorag[examples]' or pip install matplotlib")
matplotlib.use("Agg")
from matplotlib import font_manager
from matplotlib import pyplot as plt

EXCITATORY, INHIBITORY, MEMBRANE, QUIET = "#0e8bc4", "#c0741a", "#333333", "#9a9a9a"
"""The first two are those of the Neurons page."""
FONTS = ("DejaVu Sans", "Noto Sans CJK JP", "IPAexGothic", "IPAGothic", "Yu Gothic", "Hiragino Sans", "MS Gothic")
MOST_LABELS = 60


@dataclass
class Population:
    """Spikes of K steps, S tokens and n neurons, and the membranes of m of them.

    ``on`` and ``off`` are packed bits ``[K, S, ⌈n/8⌉]``, the first neuron in the lowest bit; ``counts`` ``[S, n]``;
    ``potential`` ``[K, S, m]``, after each step; ``level`` ``[K, S, m]``, from where a neuron fires, or none; ``start``
    ``[S, m]``, the potential before the first step, or none; ``numbers`` ``[n]``, of the neurons in their population;
    ``traced`` ``[m]``, places among the n.
    """

    name: str
    kind: str
    layer: int
    n: int
    on: np.ndarray
    off: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    traced: np.ndarray
    potential: np.ndarray
    level: np.ndarray | None = None
    start: np.ndarray | None = None

    def spikes(self, tokens: slice) -> np.ndarray:
        """Return −1, 0 and 1 of some tokens as they follow in time, ``[tokens · K, n]``."""
        on, off = (
            np.unpackbits(bits[:, tokens], axis=-1, count=self.n, bitorder="little").astype(np.int8)
            for bits in (self.on, self.off)
        )
        return (on - off).transpose(1, 0, 2).reshape(-1, self.n)


@dataclass
class Recording:
    """A whole file; ``texts`` and ``roles`` (prompt or answer) tell of the tokens."""

    title: str
    steps: int
    texts: list[str]
    roles: list[str]
    populations: dict[str, Population]


def read(path: Path) -> Recording:
    """Return the recording of a file, which must hold plain tensors and texts alone."""
    data = torch.load(path, map_location="cpu", weights_only=True)
    if "layers" not in data:
        return read_foreign(data)
    meta, tokens = data["meta"], data["tokens"]
    steps = int(data["time"]["steps_per_token"])
    layers = {name: read_layer(name, layer, steps, meta["code"]) for name, layer in data["layers"].items()}
    title = f"{meta['model']} · {meta['code']}, {steps} steps a token"
    return Recording(title, steps, list(tokens["text"]), list(tokens["role"]), layers)


def read_layer(name: str, layer: dict[str, Any], steps: int, code: str) -> Population:
    """Return one population of a file that EvoRAG wrote."""
    kept = {key: value.numpy() for key, value in layer.items() if isinstance(value, torch.Tensor)}
    unit = kept["delta"][:, None] * kept["scale"][kept["trace_idx"]]
    if code == "few-spike":
        # The threshold halves from step to step; a neuron fires from two thirds of it, at last from half of it.
        share = 2.0 ** np.arange(steps - 1, -1, -1) * np.append(np.full(steps - 1, 2 / 3), 1 / 2)
    else:
        share = np.full(steps, steps / 2)
    planes = kept["spikes_pos"], kept["spikes_neg"], kept["counts"].astype(np.int64)
    traces = kept["trace_idx"], kept["membrane_potential"], share[:, None, None] * unit
    numbers = kept.get("neuron_idx", np.arange(layer["n"]))
    start = kept.get("current") if code == "few-spike" else None
    return Population(name, layer["kind"], layer["layer"], layer["n"], *planes, numbers, *traces, start)


def read_foreign(data: dict[str, Any]) -> Recording:
    """Return another tool's file, with a token of one step for each step in time."""
    spikes, potential = data.get("spikes"), data.get("membrane_potential")
    if isinstance(spikes, dict):
        given = {name: (each, (potential or {}).get(name)) for name, each in spikes.items()}
    elif spikes is not None:
        given = {"spikes": (spikes, potential)}
    else:
        parts = {name: each for name, each in data.items() if isinstance(each, dict) and "spikes" in each}
        given = {name: (each["spikes"], each.get("membrane_potential")) for name, each in parts.items()}
    populations = {name: read_spikes(name, *each) for name, each in given.items()}
    steps = {each.on.shape[1] for each in populations.values()}
    if len(steps) != 1:
        raise KeyError("no spikes, or populations of different lengths")
    texts = [""] * steps.pop()
    return Recording("spikes of another tool", 1, texts, texts, populations)


def read_spikes(name: str, spikes: torch.Tensor, potential: torch.Tensor | None) -> Population:
    """Return one population of another tool's file; without potentials no neuron is traced."""
    n = spikes.shape[-1]
    signs = np.sign(spikes.float().numpy()).reshape(-1, n).astype(np.int8)
    on, off = (np.packbits(signs == sign, axis=-1, bitorder="little")[None] for sign in (1, -1))
    every = np.arange(n)
    traced = every if potential is not None else every[:0]
    voltage = np.empty((1, len(signs), 0)) if potential is None else potential.float().numpy().reshape(1, -1, n)
    return Population(name, name, -1, n, on, off, np.abs(signs).astype(np.int64), every, traced, voltage)


def label(text: str) -> str:
    """Return the text of a token so that its blanks are seen."""
    return text.replace("\n", "⏎").replace("\t", "⇥").replace(" ", "␣") or " "


def mark_tokens(axes: Any, recording: Recording, tokens: slice) -> None:
    """Draw the boundaries of tokens, with their texts where there is room, along an axis of steps."""
    first, end = tokens.start, tokens.stop
    axes.set_xlim(first * recording.steps, end * recording.steps)
    axes.set_xlabel("step")
    if recording.steps == 1 or end - first > MOST_LABELS:
        return
    axes.set_xticks(
        range(first * recording.steps, end * recording.steps + 1, recording.steps * (1 + (end - first) // 12))
    )
    for token in range(first + 1, end):
        axes.axvline(token * recording.steps, color=QUIET, linewidth=0.5)
    texts = axes.secondary_xaxis("top")
    texts.set_xticks(
        [(token + 0.5) * recording.steps for token in range(first, end)],
        [label(text) for text in recording.texts[first:end]],
        rotation=90,
        fontsize=8,
    )
    texts.tick_params(length=0)
    for place, role in zip(texts.get_xticklabels(), recording.roles[first:end], strict=True):
        place.set_color(QUIET if role == "prompt" else "black")


def draw_raster(recording: Recording, population: Population, tokens: slice, most: int) -> Any:
    """Each spike of evenly chosen neurons, excitatory and inhibitory in their colours."""
    chosen = np.unique(np.linspace(0, population.n - 1, min(most, population.n)).astype(int))
    spikes = population.spikes(tokens)[:, chosen]
    figure, axes = plt.subplots(layout="constrained", figsize=(14, 7))
    size = (0.8 * 370 / len(chosen)) ** 2
    times, neurons = np.nonzero(spikes)
    # In the order of time, so that where marks cover each other neither colour lies on top.
    colours = np.where(spikes[times, neurons] > 0, EXCITATORY, INHIBITORY)
    axes.scatter(times + tokens.start * recording.steps + 0.5, neurons, s=size, marker="|", c=colours)
    for colour, name in ((EXCITATORY, "excitatory (+1)"), (INHIBITORY, "inhibitory (−1)")):
        axes.scatter([], [], s=40, marker="s", color=colour, label=name)
    mark_tokens(axes, recording, tokens)
    axes.set_ylim(-1, len(chosen))
    places = np.unique(np.linspace(0, len(chosen) - 1, min(len(chosen), 10)).astype(int))
    axes.set_yticks(places, [str(population.numbers[chosen[place]]) for place in places])
    axes.set_ylabel(f"neuron of {population.name}")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.suptitle(f"Spikes · {recording.title}")
    return figure


def draw_rate(recording: Recording, tokens: slice) -> Any:
    """The rate of all neurons together, at each step of the window and at each token of the recording."""
    n = sum(each.n for each in recording.populations.values())
    planes = (
        [each.on for each in recording.populations.values()],
        [each.off for each in recording.populations.values()],
    )
    on, off = (sum(np.bitwise_count(bits).sum(axis=-1, dtype=np.int64) for bits in plane) / n for plane in planes)
    has_tokens = recording.steps > 1
    figure, panels = plt.subplots(
        1 + has_tokens, 1, layout="constrained", figsize=(14, 8 if has_tokens else 4), squeeze=False
    )
    steps = np.arange(tokens.start * recording.steps, tokens.stop * recording.steps + 1)
    for rates, colour, name in ((on, EXCITATORY, "excitatory"), (-off, INHIBITORY, "inhibitory")):
        panels[0, 0].stairs(rates[:, tokens].T.ravel(), steps, color=colour, fill=True, label=name)
        if has_tokens:
            panels[1, 0].stairs(rates.mean(axis=0), color=colour, fill=True)
    mark_tokens(panels[0, 0], recording, tokens)
    panels[0, 0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    if has_tokens:
        panels[1, 0].set_xlim(0, on.shape[1])
        panels[1, 0].set_xlabel("token (grey: of the prompt)" if "prompt" in recording.roles else "token")
        panels[1, 0].axvspan(0, recording.roles.count("prompt"), color=QUIET, alpha=0.25, zorder=0, linewidth=0)
    for axes in panels[:, 0]:
        axes.axhline(0, color=MEMBRANE, linewidth=0.5)
        axes.set_ylabel("spikes per neuron and step")
        axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    figure.suptitle(f"Population rate of {n:,} neurons · {recording.title}")
    return figure


def draw_heat_map(recording: Recording, kind: str) -> Any:
    """The rate of each layer at each token."""
    kinds = ["all", *dict.fromkeys(each.kind for each in recording.populations.values())]
    if kind not in kinds:
        sys.exit(f"The file holds no kind {kind!r}. It holds: {', '.join(kinds)}")
    rows: dict[int, list[Population]] = {}
    for each in recording.populations.values():
        if kind in ("all", each.kind):
            rows.setdefault(each.layer, []).append(each)
    order = sorted(rows, key=lambda layer: (layer < 0, layer))
    spikes = np.array([sum(each.counts.sum(axis=1) for each in rows[layer]) for layer in order])
    rates = spikes / np.array([[sum(each.n for each in rows[layer]) * recording.steps] for layer in order])
    figure, axes = plt.subplots(layout="constrained", figsize=(14, 7 if len(rows) > 1 else 3))
    image = axes.imshow(rates, aspect="auto", interpolation="nearest", cmap="viridis")
    figure.colorbar(image, label="spikes per neuron and step", pad=0.01)
    shown = [place for place, layer in enumerate(order) if layer < 0 or layer % 2 == 0 or len(order) < 20]
    names = {-1: recording.populations[next(reversed(recording.populations))].kind}
    axes.set_yticks(shown, [names.get(order[place], str(order[place])) for place in shown])
    axes.set_ylabel("layer")
    axes.set_xlabel("token" if recording.steps > 1 else "step")
    if recording.steps > 1 and rates.shape[1] <= 3 * MOST_LABELS:
        axes.set_xticks(range(rates.shape[1]), [label(text) for text in recording.texts], rotation=90, fontsize=6)
    figure.suptitle(f"Rate by layer and token ({kind}) · {recording.title}")
    return figure


def draw_membrane(recording: Recording, population: Population, tokens: slice, most: int) -> Any:
    """The potential of a few neurons, the levels from which they fire, and their spikes."""
    places = range(min(most, len(population.traced)))
    size = (14, 2.6 * len(places) + 1)
    figure, panels = plt.subplots(len(places), 1, layout="constrained", figsize=size, sharex=True, squeeze=False)
    spikes = population.spikes(tokens)
    first, end, steps = tokens.start, tokens.stop, recording.steps
    for place, axes in zip(places, panels[:, 0], strict=True):
        if steps == 1:
            axes.plot(np.arange(first, end) + 0.5, population.potential[0, tokens, place], color=MEMBRANE, linewidth=1)
        for token in range(first, end) if steps > 1 else ():
            draw_token(axes, population, place, token)
        if population.level is not None:
            # Few-spike levels halve from step to step: on a linear axis the last ones are one line.
            least = float(population.level[:, tokens, place].min())
            axes.set_yscale("symlog", linthresh=least, linscale=0.5)
            axes.yaxis.set_major_formatter(partial(decade, least))
            axes.axhline(0, color=QUIET, linewidth=0.5)
        axes.margins(y=0.25)
        for sign, height, colour in ((1, 0.94, EXCITATORY), (-1, 0.06, INHIBITORY)):
            fired = np.flatnonzero(spikes[:, population.traced[place]] == sign) + first * steps + 0.5
            heights = np.full(len(fired), height)
            axes.scatter(fired, heights, marker="|", s=60, color=colour, transform=axes.get_xaxis_transform())
        axes.set_ylabel(f"V of neuron {population.numbers[population.traced[place]]}")
        if place:
            for token in range(first + 1, end) if steps > 1 else ():
                axes.axvline(token * steps, color=QUIET, linewidth=0.5)
    mark_tokens(panels[0, 0], recording, tokens)
    panels[0, 0].set_xlabel("")
    panels[-1, 0].set_xlabel("step (the potential begins anew with each token)" if steps > 1 else "step")
    told = "" if population.level is None else "; coloured lines: from there it fires"
    figure.suptitle(f"Membrane potentials of {population.name}{told} · {recording.title}", fontsize=11)
    return figure


def decade(least: float, value: float, _: int) -> str:
    """Return the label of a tick, none where ticks crowd around zero."""
    return f"{value:g}" if value == 0 or abs(value) > least else ""


def draw_token(axes: Any, population: Population, place: int, token: int) -> None:
    """The potential of one neuron within one token, after each step, between the levels."""
    potential = population.potential[:, token, place]
    steps = len(potential)
    times = np.arange(steps) + 1.0
    if population.start is not None:
        potential, times = np.append(population.start[token, place], potential), np.append(0.0, times)
    axes.plot(token * steps + times, potential, color=MEMBRANE, linewidth=1, marker=".", markersize=4)
    if population.level is not None:
        edges = np.arange(token * steps, (token + 1) * steps + 1)
        for sign, colour in ((1, EXCITATORY), (-1, INHIBITORY)):
            axes.stairs(sign * population.level[:, token, place], edges, color=colour, baseline=None, alpha=0.6)


def draw_rate_histogram(recording: Recording) -> Any:
    """How many neurons fire how often, over the whole recording."""
    rates = np.concatenate([each.counts.mean(axis=0) / recording.steps for each in recording.populations.values()])
    figure, axes = plt.subplots(layout="constrained", figsize=(9, 5))
    axes.hist(rates, bins=40, range=(0, max(float(rates.max()), 0.05)), color=MEMBRANE)
    axes.axvline(rates.mean(), color=EXCITATORY, label=f"mean {rates.mean():.3f}")
    axes.plot([], [], " ", label=f"{np.count_nonzero(rates == 0):,} silent")
    axes.set_xlabel("spikes per step")
    axes.set_ylabel("neurons")
    axes.legend(frameon=False)
    figure.suptitle(f"Rates of {len(rates):,} neurons · {recording.title}", fontsize=11)
    return figure


def intervals(fired: np.ndarray, longest: int) -> np.ndarray:
    """Return how many successive spikes lie 1, 2, … steps apart; ``fired`` is packed, time is its first axis."""
    found = np.zeros(longest, np.int64)
    waiting = fired[:-1]
    for apart in range(1, longest + 1):
        met = waiting & fired[apart:]
        found[apart - 1] = np.bitwise_count(met).sum(dtype=np.int64)
        waiting = (waiting ^ met)[:-1]
    return found


def draw_interval_histogram(recording: Recording) -> Any:
    """How many steps lie between two spikes of a neuron."""
    steps = recording.steps
    longest = min(64, steps - 1 if steps > 1 else len(recording.texts) - 1)
    found = np.zeros(longest, np.int64)
    for each in recording.populations.values():
        fired = each.on | each.off
        found += intervals(fired if steps > 1 else fired[0], longest)
    figure, axes = plt.subplots(layout="constrained", figsize=(9, 5))
    axes.bar(np.arange(1, longest + 1), found / max(found.sum(), 1), color=MEMBRANE)
    axes.set_xlabel("steps between two spikes of a neuron")
    axes.set_ylabel(f"share of {found.sum():,} intervals")
    note = "Within tokens: the code resets each token." if steps > 1 else "Across the whole file: it tells no tokens."
    axes.set_title(note, fontsize=9)
    figure.suptitle(f"Intervals between spikes · {recording.title}", fontsize=11)
    return figure


def choose_population(recording: Recording, name: str) -> Population:
    """Return the population of this name, or one with membranes from the middle of the network."""
    if name and name not in recording.populations:
        sys.exit(f"The file holds no population {name!r}. It holds: {', '.join(recording.populations)}")
    found = [each for each in recording.populations.values() if each.kind == "attention_output"]
    found = found or list(recording.populations.values())
    return recording.populations[name] if name else found[len(found) // 2]


def choose_tokens(recording: Recording, told: tuple[int, int | None] | None, most: int) -> slice:
    """Return the tokens told, or the first ones of the answer."""
    total = len(recording.texts)
    if told:
        first, end, _ = slice(*told).indices(total)
        if first >= end:
            sys.exit(f"The file holds {total} tokens, and none of those asked for.")
        return slice(first, end)
    first = recording.roles.index("answer") if "answer" in recording.roles else 0
    return slice(first, min(total, first + most))


def window_of(text: str) -> tuple[int, int | None]:
    """Return ``FROM:TO`` as numbers; nothing behind the colon is the end."""
    begin, _, stop = text.partition(":")
    return int(begin or 0), int(stop) if stop else None


def draw_all(recording: Recording, out: Path, options: argparse.Namespace) -> list[Path]:
    """Draw every picture into the folder and return the files."""
    population = choose_population(recording, options.population)
    has_tokens = recording.steps > 1
    window = choose_tokens(recording, options.tokens, 24 if has_tokens else 1_000)
    near = slice(window.start, min(window.stop, window.start + (5 if has_tokens else 200)))
    figures = {
        "raster": draw_raster(recording, population, window, options.neurons),
        "population_rate": draw_rate(recording, window),
        "heat_map": draw_heat_map(recording, options.kind),
        "rate_histogram": draw_rate_histogram(recording),
    }
    if len(population.traced):
        figures["membrane"] = draw_membrane(recording, population, near, 4)
    if len(recording.texts) > 1 or has_tokens:
        figures["isi_histogram"] = draw_interval_histogram(recording)
    out.mkdir(parents=True, exist_ok=True)
    for name, figure in figures.items():
        figure.savefig(out / f"{name}.png", dpi=110, bbox_inches="tight")
        plt.close(figure)
    return [out / f"{name}.png" for name in figures]


def main(arguments: list[str] | None = None) -> None:
    """Read the arguments, draw, and print the files."""
    parser = argparse.ArgumentParser(description="Draws a recording of spiking neurons as pictures.")
    parser.add_argument("--data", type=Path, default=Path("rag_neuron_data.pt"), help="the recording")
    parser.add_argument("--out", type=Path, default=Path("rag_neuron_plots"), help="folder for the pictures")
    parser.add_argument("--population", default="", help="of raster and membranes, e.g. layers.12.query")
    parser.add_argument("--tokens", type=window_of, metavar="FROM:TO", help="of raster, rate per step and membranes")
    parser.add_argument("--kind", default="all", help="of the heat map, e.g. mlp_product")
    parser.add_argument("--neurons", type=int, default=64, help="most neurons in the raster")
    options = parser.parse_args(arguments)
    installed = set(font_manager.get_font_names())
    # Texts of tokens are no formulas, and may be Japanese.
    plt.rcParams.update({"font.family": [each for each in FONTS if each in installed], "text.parse_math": False})
    try:
        recording = read(options.data)
    except pickle.UnpicklingError:
        sys.exit(f"{options.data} is no recording of spikes: it holds more than plain tensors, texts and numbers.")
    except (OSError, RuntimeError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"{options.data} is no recording of spikes: {error}")
    for path in draw_all(recording, options.out, options):
        print(path)


if __name__ == "__main__":
    main()
