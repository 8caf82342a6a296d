"""Real browsers on the app, many at once: how long people wait for a page and a click, beside what is aimed at.

    python -m benchmarks.browsers                            ten people on Explore, a click each about 2 seconds
    python -m benchmarks.browsers --sessions 50 --pause 15   a class or an office
    python -m benchmarks.browsers --journeys                 one person: samples, a forecast, first openings

It opens `frostglass app` in a process of its own, and headless Chromium with a context of its own for each person, in a
few browsers (`--browsers`). Seconds go from the action to when nothing of the page changes any more, and *something
new* is when the page first changed. Browsers share this computer's processors with the server and need far more of
them; `benchmarks.sessions` does the same without browsers.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.async_api import Browser, BrowserContext, Page, async_playwright

from .sessions import app, spent

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
WATCH = Path(__file__).with_name("watch.js").read_text(encoding="utf-8")
PATIENCE = 180_000
"""Milliseconds that anything may take."""
PICTURE, FORECAST = ".inside #answer:not(:empty), .inside .doors canvas, .stPlotlyChart .main-svg", ".fg-figure"
SAMPLES, READING = 5, 4.0
"""Released samples that are opened from Home, and seconds that somebody reads there before."""
CLICK, OPENING, JOURNEY, CLICKS, FIRST = 1.5, 1.0, 20.0, 4, 0.3
"""What is aimed at, in seconds: 95 in 100 clicks, opening a release, from Home to an explored one with so many clicks,
and something new after a click."""


@dataclass
class Waits:
    """Seconds until something new was seen, and until all was."""

    first: list[float] = field(default_factory=list)
    all: list[float] = field(default_factory=list)

    def said(self, name: str, aim: float) -> str:
        """The line of a report."""
        if not self.all:
            return f"{name}: none"
        half, most = np.quantile(self.all, [0.5, 0.95])
        new = np.quantile(self.first, 0.95)
        met = "met" if most <= aim else "NOT met"
        return (
            f"{name}: {len(self.all)} times, p50 {half:.2f} s, p95 {most:.2f} s (aim {aim:g} s: {met}); "
            f"something new p95 {new:.2f} s (aim {FIRST:g} s)"
        )


async def acted(page: Page, waits: Waits, action: Callable[[], Awaitable[object]], until: str | None = None) -> None:
    """Do something on a page, and wait until it has come to rest (and a part of it is there)."""
    begin = await page.evaluate("watched.begin()")
    await action()
    if until is not None:
        await page.wait_for_selector(until, state="attached", timeout=PATIENCE)
    await page.wait_for_function("watched.rested()", polling=40, timeout=PATIENCE)
    first, last = await page.evaluate("watched.times()")
    waits.first.append((first - begin) / 1000)
    waits.all.append((last - begin) / 1000)


async def opened_in_app(page: Page, address: str, waits: Waits) -> None:
    """Open an address that shows a picture; seconds go from the request to the picture and its rest."""
    await page.goto(address)
    await page.wait_for_selector(PICTURE, state="attached", timeout=PATIENCE)
    await page.wait_for_function("watched.rested()", polling=40, timeout=PATIENCE)
    first, last = await page.evaluate("watched.times()")
    waits.first.append(first / 1000)  # since the page was asked for: performance.now() begins there
    waits.all.append(last / 1000)


async def ask_elsewhere(page: Page, waits: Waits, chance: random.Random) -> None:
    """Type another place into the first number of the panel beside the picture."""
    number = page.locator("[data-testid=stNumberInput] input").first
    least, most = [float(await number.get_attribute(end)) for end in ("min", "max")]

    async def type_it() -> None:
        await number.fill(f"{least + (most - least) * chance.uniform(0.1, 0.9):.3g}")
        await number.press("Enter")

    await acted(page, waits, type_it)


async def other_column(page: Page, waits: Waits, chance: random.Random) -> None:
    """Put another column across; the list is opened before the time begins."""
    await page.get_by_role("combobox", name="Across").first.click()
    options = page.get_by_role("option")
    await options.first.wait_for()
    others = [place for place in range(await options.count()) if not await _chosen(options.nth(place))]
    place = chance.choice(others)
    await acted(page, waits, lambda: options.nth(place).click())


async def _chosen(option) -> bool:
    return await option.get_attribute("aria-selected") == "true"


async def together(browsers: list[Browser], address: str, asked: argparse.Namespace) -> list[tuple[str, Waits, float]]:
    """People who explore a release at once; what each kind of click took."""
    opening, place, column = Waits(), Waits(), Waits()

    async def visit(number: int) -> None:
        chance = random.Random(number)  # which place is asked, and when, is nobody's secret
        context = await browsers[number % len(browsers)].new_context(viewport={"width": 1280, "height": 800})
        await context.add_init_script(WATCH)
        page = await context.new_page()
        await asyncio.sleep(chance.uniform(0, asked.pause))
        await opened_in_app(page, f"{address}/explore?release={asked.release}", opening)
        for click in range(asked.clicks):
            await asyncio.sleep(chance.uniform(2 / 3 * asked.pause, 4 / 3 * asked.pause))
            await (other_column(page, column, chance) if click % 2 else ask_elsewhere(page, place, chance))
        await context.close()

    await asyncio.gather(*map(visit, range(asked.sessions)))
    return [
        ("Opening Explore", opening, OPENING * asked.sessions / 2),
        ("Asking elsewhere", place, CLICK),
        ("Another column", column, CLICK),
    ]


async def journeys(browser: Browser, address: str) -> None:
    """One person: a sample from Home to an answer, and what the first and the second opening of a release take."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    await context.add_init_script(WATCH)
    page = await context.new_page()
    home = Waits()
    begin = perf_counter()
    await page.goto(address)
    card = page.locator(".st-key-gallery-open-flights a").first
    await card.wait_for(timeout=PATIENCE)
    await acted(page, home, card.click, PICTURE)
    picture = page.locator(".inside #picture").first
    await acted(page, home, lambda: picture.click(position={"x": 200, "y": 200}))
    took, clicks = perf_counter() - begin, 2
    met = "met" if took <= JOURNEY and clicks <= CLICKS else "NOT met"
    print(
        f"From Home to an answer of a sample: {clicks} clicks, {took:.1f} s (aim {CLICKS} clicks, {JOURNEY:g} s: {met})"
    )
    await from_home(context, address)
    for name in ("city", "towns", "stars", "flights"):
        for which in ("first", "again"):
            waits = Waits()
            await opened_in_app(page, f"{address}/explore?release={name}", waits)
            print(waits.said(f"Opening {name} ({which})", OPENING))
    for name, view in (("towns", "Anomalies"), ("city", "Sample"), ("towns", "Live ε")):
        waits = Waits()
        await opened_in_app(page, f"{address}/explore?release={name}", Waits())
        await acted(page, waits, page.get_by_text(view, exact=True).first.click)
        print(waits.said(f"{name}: {view}", OPENING))
    waits = Waits()
    await opened_in_app(page, f"{address}/compare", waits)
    print(waits.said("Compare: first curves", OPENING))
    await context.close()


async def from_home(context: BrowserContext, address: str) -> None:
    """What people wait for who have read Home: the first forecast, then each released sample, and their clicks."""
    forecast, opening, click = Waits(), Waits(), Waits()
    page = await context.new_page()
    await _read_home(page, address)
    await acted(page, forecast, page.locator(".st-key-door-try button").click, FORECAST)
    print(forecast.said("The first forecast of this server", OPENING))
    await _read_home(page, address)
    cards = await page.locator("[class*=st-key-gallery-open-]").count()
    for place in range(min(cards, SAMPLES)):
        await _read_home(page, address)
        card = page.locator("[class*=st-key-gallery-open-] a").nth(place)
        await acted(page, opening, card.click, PICTURE)
        picture = page.locator(".inside #picture").first
        if await picture.count():
            await acted(page, click, lambda picture=picture: picture.click(position={"x": 150, "y": 150}))
    print(opening.said(f"Opening {len(opening.all)} samples from Home", OPENING))
    print("  each:", ", ".join(f"{seconds:.2f}" for seconds in opening.all), "s")
    print(click.said("A click on their pictures", OPENING))
    await page.close()


async def _read_home(page: Page, address: str) -> None:
    """Home as whoever has read its first lines has it: what loads beside it is there."""
    await page.goto(address)
    await page.locator("[class*=st-key-gallery-open-] a").first.wait_for(timeout=PATIENCE)
    await page.wait_for_function("watched.rested()", polling=40, timeout=PATIENCE)
    await asyncio.sleep(READING)


async def measured(asked: argparse.Namespace, server: int) -> None:
    """Print what was seen, beside what is aimed at."""
    address = f"http://127.0.0.1:{asked.port}"
    async with async_playwright() as started:
        launched = [
            await started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS) for _ in range(asked.browsers)
        ]
        warm = await launched[0].new_page()
        await warm.add_init_script(WATCH)
        await opened_in_app(warm, f"{address}/explore?release={asked.release}", Waits())
        await warm.close()
        if asked.journeys:
            await journeys(launched[0], address)
        else:
            before = spent(server)
            for name, waits, aim in await together(launched, address, asked):
                print(waits.said(name, aim))
            actions = asked.sessions * (asked.clicks + 1)
            print(f"The server took {(spent(server) - before) / actions:.3f} processor seconds an action.")
        for browser in launched:
            await browser.close()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--browsers", type=int, default=2, help="processes of Chromium that share the sessions")
    parser.add_argument("--clicks", type=int, default=6)
    parser.add_argument(
        "--pause", type=float, default=4.0, help="seconds between two clicks of one: a third more or less"
    )
    parser.add_argument("--release", default="visits")
    parser.add_argument("--journeys", action="store_true", help="one person in place of many")
    parser.add_argument("--port", type=int, default=8598)
    asked = parser.parse_args()
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with app(asked.port) as server:
        asyncio.run(measured(asked, server.pid))
    print(f"Load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
