"""Shared pages in a real browser: how long opening takes, a frame while somebody drags, and dense pictures.

    python -m benchmarks.frames                all that is aimed at, each figure beside its aim
    python -m benchmarks.frames --quick        made-up tables of 10 columns alone

Of pages: made-up tables of 10 and 100 columns, what two mechanisms draw, and every bundled sample; how many lines of
script there are; and how long a visitor of the app, who is there already, waits for a sample.

Pages are opened from disk in headless Chromium without a graphics processor and without a network. Opening goes from
the call to a picture that can be asked; a drag goes over one picture, to and fro, a step a frame, while those others
that are in view follow (the rest does when it ends, and words do in turn), and a frame is what lies between two calls
of `requestAnimationFrame`. Those are times by the clock, which mean something where the load that is printed is low;
beside each stands the processor time of the page's main thread.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from playwright.async_api import async_playwright
from playwright.sync_api import Page, sync_playwright

from core import Budget, Domain, Features, Race, kernels, load, release
from core.domain import Categorical, Numeric
from core.figures.share.shared_page import FOLDER, READER, share_html
from core.sketches.tables.tables import Tables
from core.sources.public_tables import bundled_releases

from .browsers import ARGUMENTS, CHROMIUM, WATCH, Waits, from_home, opened_in_app
from .sessions import app

PEOPLE, STEPS = 20_000, 120
OPENING, FRAME, MOST_MEMORY = {10: 1.0, 100: 2.0}, 33.0, 200.0
"""What is aimed at: seconds by columns, milliseconds of 95 in 100 frames on two cores, and MB of the page's memory."""
MOST_SIZE, SAMPLE_SIZE, SAMPLE_OPENING, APP_OPENING, LINES = {10: 3.0, 100: 5.0}, 3.0, 1.0, 1.0, 4_000
"""MB of a page by columns and of a bundled sample, seconds until either can be asked, and lines of script in all."""
PORT, AGAIN = 8597, ("city", "heart", "towns", "salaries")
DRAGGED = """async (steps) => {
  const picture = document.querySelector(".card .picture.number");
  const box = picture.querySelector("svg").getBoundingClientRect();
  const pointer = { pointerId: 1, pointerType: "mouse", button: 0, bubbles: true, clientY: box.top + box.height / 2 };
  const at = (kind, share) => picture.dispatchEvent(
    new PointerEvent(kind, { ...pointer, clientX: box.left + 45 + share * (box.width - 60) }));
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const found = [];
  at("pointerdown", 0.1);
  let before = await frame();
  for (let i = 0; i < steps; i++) {
    at("pointermove", 0.5 - 0.4 * Math.cos((2 * Math.PI * i) / 60));
    const now = await frame();
    found.push(now - before);
    before = now;
  }
  at("pointerup", 0.5);
  return found;
}"""
DRAWN = """(side) => {
  const { decoder, x, y, window } = frostglass.explorer.chart;
  const along = ([low, high]) => Array.from({ length: side }, (_, i) => low + ((i + 0.5) / side) * (high - low));
  const name = (place) => decoder.columns[place].name;
  const others = decoder.columns.filter((_, place) => place !== x && place !== y);
  const held = Object.fromEntries(others.map((one) => [one.name, (one.low + one.high) / 2]));
  const began = performance.now();
  decoder.release.across({ [name(x)]: along(window.x), [name(y)]: along(window.y) }, held);
  return performance.now() - began;
}"""


def table(columns: int) -> Any:
    """A made-up table, half of its columns numbers and half categories, with every pair of them."""
    random = np.random.default_rng(0)
    mood = random.normal(0.0, 1.0, PEOPLE)
    frame, facts = {}, []
    for place in range(columns):
        value = mood * random.uniform(0.0, 1.0) + random.normal(0.0, 1.0, PEOPLE)
        if place % 2:
            frame[f"choice {place}"] = np.array(list("abcdef"))[np.clip(value + 3.0, 0, 5).astype(int)]
            facts.append(Categorical(f"choice {place}", tuple("abcdef")))
        else:
            frame[f"number {place}"] = value
            facts.append(Numeric(f"number {place}", -4.0, 4.0))
    bins = 12 if columns > 20 else None
    return release(Tables.of(Domain(tuple(facts)), bins), pd.DataFrame(frame), Budget(epsilon=50))


def dense(features: bool) -> Any:
    """RACE of three columns, or random features of eight."""
    random, width = np.random.default_rng(0), 8 if features else 3
    domain = Domain(tuple(Numeric(f"c{place}", 0.0, 255.0) for place in range(width)))
    points = pd.DataFrame(np.clip(random.normal(128.0, 40.0, (PEOPLE, width)), 0.0, 255.0), columns=list(domain.names))
    if features:
        return release(Features(domain, kernels.Gaussian(60.0), rows=4_000), points, Budget(epsilon=1))
    return release(Race(domain, kernels.Euclidean(40.0), rows=1_000, width=1_000), points, Budget(epsilon=1))


class Thread:
    """The processor time of a page's main thread."""

    def __init__(self, page: Page):
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.before = self.seconds()

    def seconds(self) -> float:
        """Since the document was opened."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

    def lap(self) -> float:
        """Seconds since the last call."""
        now = self.seconds()
        taken, self.before = now - self.before, now
        return taken


def opened(page: Page, made: Any, folder: Path) -> tuple[float, int]:
    """Seconds until the page of a release can be asked, and its bytes."""
    data = made.to_bytes()
    path = folder / "shared.html"
    path.write_text(share_html(made, data, "made-up.npz"), encoding="utf-8")
    began = perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    return perf_counter() - began, path.stat().st_size


def said(name: str, value: float, unit: str, most: float) -> None:
    print(f"{name}: {value:,.3g} {unit} (aim {most:g}: {'met' if value <= most else 'NOT met'})", flush=True)


def of_tables(page: Page, columns: int, folder: Path, thread: Thread) -> None:
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    seconds, size = opened(page, table(columns), folder)
    said(f"{columns} columns, size of the page", size / 1e6, "MB", MOST_SIZE[columns])
    said(f"{columns} columns, opening", seconds, "s", OPENING[columns])
    print(f"    {thread.seconds():.2f} processor seconds")
    page.wait_for_timeout(3_000)
    thread.lap()
    times = np.array(page.evaluate(DRAGGED, STEPS))
    print(f"    {1e3 * thread.lap() / STEPS:.1f} processor ms a frame")
    said(f"{columns} columns, p95 of {STEPS} frames while dragging", float(np.quantile(times, 0.95)), "ms", FRAME)
    print(f"    half of the frames take {np.median(times):.1f} ms")
    memory = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
    said(f"{columns} columns, memory of the page", memory, "MB", MOST_MEMORY)
    said(f"{columns} columns, requests", len([url for url in asked if not url.startswith("file:")]), "requests", 0)


def of_samples(page: Page, folder: Path) -> None:
    """Every bundled release: the largest page, and the one that takes longest to open."""
    found = {sample.name: opened(page, load(path), folder) for sample, path in bundled_releases()}
    slowest, largest = (max(found, key=lambda name: found[name][side]) for side in (0, 1))
    said(f"Bundled samples, the largest page ({largest})", found[largest][1] / 1e6, "MB", SAMPLE_SIZE)
    said(f"Bundled samples, the slowest opening ({slowest})", found[slowest][0], "s", SAMPLE_OPENING)
    print("    each:", ", ".join(f"{name} {seconds:.2f} s" for name, (seconds, _) in found.items()))


async def in_the_app() -> None:
    """What a visitor waits for who is there already: samples from Home, and some of them once more."""
    async with async_playwright() as started:
        browser = await started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        await context.add_init_script(WATCH)
        address = f"http://127.0.0.1:{PORT}"
        await from_home(context, address)
        page = await context.new_page()
        for name in AGAIN:
            await opened_in_app(page, f"{address}/explore?release={name}", Waits())
            waits = Waits()
            await opened_in_app(page, f"{address}/explore?release={name}", waits)
            print(waits.said(f"The app, opening {name} again", APP_OPENING))
        await browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Frames, openings and pictures of shared pages.")
    parser.add_argument("--quick", action="store_true", help="10 columns alone")
    quick = parser.parse_args().quick
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=[*ARGUMENTS, "--enable-precise-memory-info"])
        page = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True).new_page()
        thread = Thread(page)
        for columns in (10,) if quick else (10, 100):
            of_tables(page, columns, Path(folder), thread)
        for features, aim in () if quick else ((False, 150.0), (True, 300.0)):
            opened(page, dense(features), Path(folder))
            name = "4,000 random features in 8 columns" if features else "RACE, R = 1,000, three columns"
            page.evaluate(DRAWN, 100)  # what is not counted
            thread.lap()
            said(f"{name}: 100 × 100 places", min(page.evaluate(DRAWN, 100) for _ in range(3)), "ms", aim)
            print(f"    {1e3 * thread.lap() / 3:.0f} processor ms")
        if not quick:
            of_samples(page, Path(folder))
        browser.close()
    if not quick:
        modules = [*FOLDER.glob("*.js"), *READER.glob("*.js")]
        said("Lines of script", sum(len(one.read_text().splitlines()) for one in modules), "lines", LINES)
        with app(PORT):
            asyncio.run(in_the_app())
    print(f"Load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
