"""The Neurons page over recordings that the converted SmolLM2 made, driven in a browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from app.components.ask.figures import EXCITATORY, INHIBITORY
from core.adapters.generation.huggingface_generator import Placement
from core.adapters.generation.packaged_smollm2 import PackagedSmolLM2
from core.adapters.generation.spiking_generator import SpikingGenerator, SpikingOptions
from core.model import Prompt, Sampling
from core.snn.recording import save
from tests.e2e.conftest import ARTEFACTS, guarded_page, serious_violations, serve, window
from tests.smollm2 import missing, models
from tests.unit.snn.recorded import population, recording

pytestmark = pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")

DOCUMENT = "<document>The pump is checked every 14 days. The seal is replaced once a year.</document>"
QUESTIONS = {"pump": "How often is the pump checked?", "seal": "When is the <b>seal</b> replaced?"}
TOKENS = 8
PROMPT_TOKENS = 8
THINNED = 4
PLOTS = ("raster", "steps", "rates", "heat", "membrane", "histogram", "intervals")
LAYOUT = "document.getElementById('neurons-{plot}').layout"
MODULE = "(await import(new URL('neurons/{name}.js', document.getElementById('_dash-renderer').src).href))"
"""A module of the page, as the page itself has it."""
VIEW = f"{MODULE.format(name='view')}.present()"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of two short answers, every neuron of them, and a made-up one that holds one neuron in four."""
    folder = tmp_path_factory.mktemp("recorded")
    how = SpikingOptions(folder, prompt_tokens=PROMPT_TOKENS)
    made = {}
    with closing(SpikingGenerator(PackagedSmolLM2(models()), Placement("cpu"), how, max_bytes=65_536)) as generator:
        for name, question in QUESTIONS.items():
            prompt = Prompt("Answer the question from the document.", f"{DOCUMENT}\nQuestion: {question}", "en")
            made[name] = folder / f"{name}.pt"
            list(generator.write_recorded(prompt, Sampling(max_tokens=TOKENS), 120.0, made[name]))
    signs = np.random.default_rng(7).integers(-1, 2, (8, 5, 200)).astype(np.int8)
    thinned = replace(population(signs), neuron_idx=np.arange(200, dtype=np.int32) * THINNED)
    made["thinned"] = folder / "thinned.pt"
    save(recording({"layers.0.query": thinned}), made["thinned"])
    halves = np.random.default_rng(8).choice(np.array([-1, 0, 1], np.int8), (8, 500, 200), p=[0.13, 0.74, 0.13])
    made["halves"] = folder / "halves.pt"
    save(recording({"layers.0.query": population(halves)}), made["halves"])
    made["foreign"] = folder / "foreign.pt"
    spikes = torch.rand((60, 90), generator=torch.manual_seed(9)) < 0.2
    foreign = {"spikes": {"input": spikes.to(torch.uint8), "output": spikes[:, :7]}}
    torch.save({**foreign, "membrane_potential": {"output": torch.randn(60, 7)}}, made["foreign"])
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from serve(tmp_path_factory.mktemp("neurons"), EVOSPIKENET_TEST_MODE="1")


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """A page whose scripts must not fail and whose policy must not be broken, WebGL included."""
    yield from guarded_page(browser, server)


@pytest.fixture(scope="module")
def kept(browser: Browser, server: str, files: dict[str, Path]) -> dict[str, str]:
    """The ids of the recordings."""
    context = window(browser, server)
    ids = {}
    for name, path in files.items():
        answer = context.request.post(
            "/api/v1/recordings",
            multipart={
                "file": {"name": path.name, "mimeType": "application/octet-stream", "buffer": path.read_bytes()}
            },
        )
        assert answer.ok, answer.text()
        ids[name] = answer.json()["id"]
    context.close()
    return ids


def show(page: Page, address: str) -> None:
    page.goto(address)
    drawn(page)


def drawn(page: Page) -> None:
    """Wait until every plot is there."""
    for name in PLOTS:
        expect(page.locator(f"#neurons-{name} .main-svg").first).to_be_attached()
    expect(page.locator("#neurons .neurons-columns [aria-busy]")).to_have_count(0)


def show_without_membranes(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#neurons-raster .main-svg").first).to_be_attached()
    expect(page.locator("#neurons .neurons-columns [aria-busy]")).to_have_count(0)


def until(page: Page, holds: str) -> None:
    """Wait until an expression is true; Playwright's own way needs ``eval``, which the policy forbids."""
    deadline = time.monotonic() + 60
    while not page.evaluate(holds):
        assert time.monotonic() < deadline, holds
        page.wait_for_timeout(50)


def marks(page: Page, plot: str = "raster") -> int:
    """How many marks a plot draws."""
    return int(
        page.evaluate("id => document.getElementById(id).data.reduce((n, t) => n + t.x.length, 0)", f"neurons-{plot}")
    )


def export(page: Page, form: str) -> None:
    page.locator("#neurons-export > summary").click()
    page.locator(f'[data-neurons-export="{form}"]').click()


def test_raster_draws_the_very_spikes_of_the_file_with_webgl_and_what_is_chosen_is_exported(
    page: Page, kept: dict[str, str], files: dict[str, Path]
) -> None:
    from core.snn.recording import load

    record = load(files["pump"], 1 << 27).populations["layers.15.value"]
    spikes = int((record.spikes() != 0).sum())
    show(page, f"/neurons?recording={kept['pump']}&layer=15&kind=value")
    drawing = page.locator("#neurons-raster canvas.gl-canvas").first
    expect(drawing).to_be_attached()
    expect(page.locator("#neurons-raster")).not_to_contain_text("WebGL is not supported")
    assert marks(page) == spikes
    expect(page.locator("#neurons-raster-said")).to_contain_text("192 neurons")
    expect(page.locator("#neurons-table")).to_contain_text("layers.15.value")
    with page.expect_download() as saved:
        export(page, "csv")
    lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()[1:]
    assert len(lines) == spikes and {line.split(",")[0] for line in lines} == {"layers.15.value"}
    with page.expect_download() as saved:
        export(page, "neo")
    assert saved.value.suggested_filename == "pump.mat"
    assert Path(saved.value.path()).read_bytes().startswith(b"MATLAB")
    for form, begins in (("png", b"\x89PNG"), ("svg", b"<svg"), ("csv", b"trace,x,y,value")):
        page.locator(".neurons-figure:has(#neurons-raster) .menu summary").click()
        with page.expect_download() as saved:
            page.locator(f'[data-neurons-save="{form}"][data-figure="raster"]').click()
        content = Path(saved.value.path()).read_bytes()
        assert content.startswith(begins) and len(content) > 2_000, form


def test_chosen_token_is_marked_everywhere_stands_in_the_address_and_moves_along(
    page: Page, kept: dict[str, str]
) -> None:
    show(page, f"/neurons?recording={kept['pump']}&layer=3&kind=query&token=5")
    chosen = page.locator(".neurons-token[aria-current]")
    expect(chosen).to_have_count(1)
    chosen.focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#neurons-token-said")
    expect(said).to_contain_text("Token 6 of")
    expect(page.locator("#neurons-membrane-said")).to_contain_text("at token 6")
    expect(page.locator("#neurons-histogram-said")).to_contain_text("at token 6")
    for name in ("raster", "steps", "rates", "heat"):
        expect(page.locator(f"#neurons-{name} .neurons-band")).to_have_count(1)
    page.wait_for_url("**token=6*")
    page.reload()
    drawn(page)
    expect(said).to_contain_text("Token 6 of")
    expect(page.locator("#neurons-layer")).to_have_value("3")
    page.locator('[data-neurons="play"]').click()
    expect(said).to_contain_text(f"Token {len_of(page)} of")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    plot = page.locator("#neurons-heat")
    plot.scroll_into_view_if_needed()
    area = page.evaluate(f"async () => {MODULE.format(name='plots')}.areaOf(document.getElementById('neurons-heat'))")
    plot.click(position={"x": area["l"] + area["w"] - 4, "y": area["t"] + area["h"] - 4})
    expect(page.locator("#neurons-layer")).to_have_value("29")
    expect(page.locator("#neurons-table")).to_contain_text("layers.29.query")
    expect(said).to_contain_text(f"Token {len_of(page)} of")


def len_of(page: Page) -> int:
    return int(page.evaluate(f"async () => {VIEW}.tokens.count"))


def test_closer_look_draws_more_neurons_and_moves_every_plot_in_time(page: Page, kept: dict[str, str]) -> None:
    show(page, f"/neurons?recording={kept['pump']}&layer=15&kind=mlp_product")
    said = page.locator("#neurons-raster-said")
    expect(said).to_contain_text("one neuron in")
    page.locator("#neurons-raster").scroll_into_view_if_needed()
    box = page.locator("#neurons-raster .nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.37, steps=4)
    page.mouse.up()
    expect(said).to_contain_text("all that are in view drawn")
    begin, end = page.evaluate(f"{LAYOUT.format(plot='raster')}.xaxis.range")
    assert end - begin < len_of(page) / 2
    for plot in ("steps", "rates", "heat"):
        page.locator(f"#neurons-{plot}").scroll_into_view_if_needed()
        until(page, f"Math.abs({LAYOUT.format(plot=plot)}.xaxis.range[0] - {begin}) < 1e-6")
    page.locator("#neurons-export > summary").click()
    expect(page.locator("#neurons-export-part")).to_contain_text(f"tokens {int(begin) + 1} to ")
    page.get_by_role("button", name="Reset the view").click()
    expect(said).to_contain_text("one neuron in")


def test_a_million_spikes_answer_at_once_and_are_too_many_for_neo(page: Page, kept: dict[str, str]) -> None:
    """Prints what an interaction costs the page; the machine's other work is left out, so nothing is asserted of it."""
    show(page, f"/neurons?recording={kept['pump']}&layer=all&kind=mlp_product")
    spikes = page.evaluate(f"async () => {VIEW}.summary.spikes")
    assert spikes > 1_000_000 and marks(page) < 60_000
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(script: str, times: int = 6) -> float:
        before = busy_ms(session)
        page.evaluate(f"async () => {{ const v = {VIEW}; for (let i = 0; i < {times}; i++) {{ {script} }} }}")
        return (busy_ms(session) - before) / times

    token = spent("await v.choose(i + 2);")
    zoom = spent(
        "v.timings.zoom = 0; v.zoom([i, i + 9], [20000, 9000]);"
        "while (!v.timings.zoom) await new Promise(r => setTimeout(r, 5));"
    )
    print(f"{spikes:,} spikes: a token {token:.0f} ms, a closer look {zoom:.0f} ms of the page's thread")
    export(page, "neo")
    error = page.locator("#neurons-error")
    expect(error).to_contain_text("Choose a layer or a kind")
    expect(error.get_by_role("button", name="Try again")).to_be_visible()


def busy_ms(session: Any) -> float:
    told = session.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in told if each["name"] == "TaskDuration") * 1000


def test_as_many_spikes_of_either_sign_look_like_it_at_five_hundred_tokens(page: Page, kept: dict[str, str]) -> None:
    show_without_membranes(page, f"/neurons?recording={kept['halves']}")
    with Image.open(BytesIO(page.locator("#neurons-raster").screenshot())) as image:
        pixels = np.asarray(image.convert("RGB"), np.int64)
    page.screenshot(path=ARTEFACTS / "neurons-halves.png")
    near = [
        int((np.abs(pixels - np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])).max(axis=2) < 60).sum())
        for colour in (EXCITATORY, INHIBITORY)
    ]
    assert min(near) > 10_000 and 0.8 < near[0] / near[1] < 1.25, near


def test_file_of_another_tool_is_shown_and_what_it_lacks_is_said(page: Page, kept: dict[str, str]) -> None:
    show_without_membranes(page, f"/neurons?recording={kept['foreign']}&kind=input")
    said = page.locator("#neurons-left-out")
    expect(said).to_contain_text("no membrane potentials of 90 neurons")
    expect(said).to_contain_text("neither tokens nor thresholds")
    page.locator("#neurons-kind").select_option("output")
    expect(page.locator("#neurons-table")).to_contain_text("output")
    expect(page.locator("#neurons-membrane-said")).to_contain_text("of output")
    page.screenshot(path=ARTEFACTS / "neurons-foreign.png", full_page=True)


def test_two_recordings_stand_side_by_side_and_a_refused_one_leaves_nothing(page: Page, kept: dict[str, str]) -> None:
    show(page, f"/neurons?recording={kept['pump']}")
    beside, comparison = page.locator("#neurons-with"), page.locator("#neurons-comparison")
    beside.select_option(kept["seal"])
    expect(comparison).to_be_visible()
    expect(page.locator("#neurons-both-said")).to_contain_text("cosine")
    expect(page.locator("#neurons-differ tbody tr").first).to_be_visible()
    expect(page.locator("#neurons-other .main-svg").first).to_be_attached()
    page.wait_for_url(f"**with={kept['seal']}*")
    beside.select_option(kept["thinned"])
    expect(page.locator("#neurons-error")).to_contain_text("different models")
    expect(comparison).to_be_hidden()
    beside.select_option(kept["seal"])
    expect(comparison).to_be_visible()
    beside.select_option("")
    expect(comparison).to_be_hidden()


def test_spikes_that_do_not_arrive_leave_nothing_of_the_layer_before_and_can_be_asked_for_again(
    page: Page, kept: dict[str, str]
) -> None:
    show(page, f"/neurons?recording={kept['seal']}&layer=1&kind=key")
    expect(page.locator("#neurons-text")).to_contain_text("seal")
    # A question that looks like markup stays text.
    assert page.locator("#neurons-text b").count() == 0
    spikes = "**/spikes?population=layers.2.key"
    page.route(spikes, lambda route: route.abort())
    page.locator("#neurons-layer").select_option("2")
    expect(page.locator("#neurons-error").get_by_role("button", name="Try again")).to_be_visible()
    expect(page.locator("#neurons-table")).to_contain_text("layers.2.key")
    expect(page.locator("#neurons-raster-said")).to_have_text("Could not be loaded.")
    expect(page.locator("#neurons-raster canvas")).to_have_count(0)
    page.unroute(spikes)
    page.get_by_role("button", name="Try again").click()
    drawn(page)
    expect(page.locator("#neurons-error")).to_be_empty()
    ground = f"{LAYOUT.format(plot='raster')}.paper_bgcolor"
    before = page.evaluate(ground)
    page.get_by_role("button", name="Dark").first.click()
    until(page, f"{ground} !== '{before}'")


def test_slower_answers_do_not_replace_those_that_were_asked_for_later(page: Page, kept: dict[str, str]) -> None:
    show(page, f"/neurons?recording={kept['seal']}&layer=1&kind=key")
    held: list[Any] = []
    page.route("**/spikes?population=layers.2.key", lambda route: held.append(route))
    page.route(f"**/compare?with={kept['pump']}", lambda route: held.append(route))
    page.locator("#neurons-with").select_option(kept["pump"])
    with page.expect_request("**/spikes?population=layers.2.key"):
        page.locator("#neurons-layer").select_option("2")
    expect(page.locator("#neurons-raster-said")).to_have_text("Loading")
    page.locator("#neurons-with").select_option("")
    page.locator("#neurons-layer").select_option("3")
    expect(page.locator("#neurons-table")).to_contain_text("layers.3.key")
    drawn(page)
    for late in held:
        with page.expect_response(late.request.url):
            late.continue_()
    page.wait_for_timeout(300)
    assert len(held) >= 2
    assert page.evaluate(f"async () => {VIEW}.rows.parts[0].name") == "layers.3.key"
    expect(page.locator("#neurons-comparison")).to_be_hidden()


def test_recording_is_uploaded_renamed_and_deleted(
    page: Page, kept: dict[str, str], files: dict[str, Path], tmp_path: Path
) -> None:
    show(page, f"/neurons?recording={kept['pump']}")
    broken = tmp_path / "broken.pt"
    broken.write_bytes(b"no recording at all")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a recording").click()
    chooser.value.set_files(broken)
    expect(page.locator("#neurons-upload-said")).to_contain_text("cannot be read")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a recording").click()
    chooser.value.set_files(
        {"name": "third.pt", "mimeType": "application/octet-stream", "buffer": files["thinned"].read_bytes()}
    )
    expect(page.locator("#neurons-recording option:checked")).to_have_text("third")
    # It holds one neuron in four, which keep their numbers.
    expect(page.locator("#neurons-left-out")).to_contain_text(f"one neuron in {THINNED}")
    expect(page.locator("#neurons-raster-said")).to_contain_text(f"one neuron in {THINNED}")
    axis = f"{LAYOUT.format(plot='raster')}.yaxis"
    assert page.evaluate(f"{axis}.ticktext.map(Number)") == [row * THINNED for row in page.evaluate(f"{axis}.tickvals")]
    page.get_by_role("button", name="Rename").first.click()
    page.get_by_label("Name of the recording").fill("<i>Third</i>")
    page.keyboard.press("Enter")
    expect(page.locator("#neurons-recording option:checked")).to_have_text("<i>Third</i>")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("#neurons-delete-dialog")).to_contain_text("third")
    page.get_by_role("button", name="Delete the recording").click()
    expect(page.locator("#neurons-recording option")).to_have_count(len(kept))


@pytest.mark.parametrize(("width", "scheme", "locale"), [(1280, "light", "en-GB"), (400, "dark", "ja-JP")])
def test_page_is_accessible_and_its_plots_speak(
    browser: Browser, server: str, kept: dict[str, str], width: int, scheme: str, locale: str
) -> None:
    context = window(browser, server, width=width, scheme=scheme, locale=locale)
    page = context.new_page()
    show(page, f"/neurons?recording={kept['seal']}&with={kept['pump']}&layer=7&kind=all")
    expect(page.locator("#neurons-other .main-svg").first).to_be_attached()
    page.locator(".neurons-explain summary").click()
    for name in PLOTS:
        plot = page.locator(f"#neurons-{name}")
        said = page.locator(f"#{plot.get_attribute('aria-describedby')}")
        assert len(said.inner_text()) > 15, name
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert serious_violations(page) == []
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"neurons-{scheme}-{width}.png", full_page=True)
    context.close()
