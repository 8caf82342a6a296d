"""The report: what was released, under which promise, in words, as a privacy label and in pictures; one HTML file.

The file needs nothing else: no script runs in it, nothing is fetched (its own policy forbids both), and it prints on
paper. Whatever comes from a file or a visitor is escaped on its way in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ...analysis.density import Curve, Heatmap
from ...domain import Vector
from ...formatting.escapes import in_html
from ...formatting.numbers import best_guess, percent, significant
from ...formatting.phrases import day, listed, minute, shown
from ...releases.comparison import Comparison
from ...releases.release import Release
from ..palette import AMBER, DARK_SHADES, FAINT, INK, LIGHT_SHADES, PAPER, RED, TEAL, Colour
from .exploration import Density, Step
from .label import PrivacyLabel, privacy_label
from .release_pictures import drawn, in_words
from .report_tables import counts_html, differences_html
from .svg import picture_svg


def _variable(name: str, colour: Colour) -> str:
    return f"--{name}: light-dark({colour.light}, {colour.dark}); --{name}-shape: {colour.shape};"


_COLOURS = (("amber", AMBER), ("teal", TEAL), ("ink", INK), ("faint", FAINT), ("red", RED), ("paper", PAPER))
_VARIABLES = " ".join(_variable(name, colour) for name, colour in _COLOURS)
_SHADES = " ".join(
    f".shade-{index} {{ fill: light-dark({light}, {dark}); }}"
    for index, (light, dark) in enumerate(zip(LIGHT_SHADES, DARK_SHADES, strict=True))
)

STYLE = (
    f":root {{ color-scheme: light dark; {_VARIABLES} --hairline: light-dark(#DCE3E4, #2A3439); }}\n{_SHADES}\n"
    """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.05rem/1.6 "Source Sans 3", "Source Sans Pro",
  "Segoe UI", system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 46rem; margin: 0 auto; padding: clamp(1.5rem, 6vw, 5rem) clamp(1.1rem, 5vw, 2rem); }
h1, h2 { font-family: "Source Serif 4", "Source Serif Pro", Georgia, serif; font-weight: 600; letter-spacing: -0.012em;
  line-height: 1.2; text-wrap: balance; }
h1 { font-size: clamp(1.9rem, 6vw, 2.9rem); margin: 0.3rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 0 0 0.8rem; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 0.4rem; }
p { margin: 0 0 0.9rem; text-wrap: pretty; }
section { margin-top: 3.2rem; }
.mark { width: 2.6rem; height: 2.6rem; display: block; margin-bottom: 1.4rem; }
.mark-people { fill: var(--amber-shape); } .mark-shape { fill: var(--teal-shape); }
.mark-pane { fill: var(--teal-shape); fill-opacity: 0.14; stroke: var(--ink-shape); }
.made, .note, small, .scale { color: var(--faint); font-size: 0.88rem; }
.made { margin: 0; }
.lead { font-size: 1.2rem; line-height: 1.5; color: var(--faint); }
.warning { color: var(--red); }
.odds { font-size: 1.2rem; }
.bar { height: 0.6rem; border-radius: 0.3rem; overflow: hidden; background: var(--hairline); }
.bar span { display: block; height: 100%; background: var(--ink); }
.scale { display: flex; justify-content: space-between; margin: 0.3rem 0 1rem; }
.label { border: 2px solid var(--ink); border-radius: 0.4rem; padding: 1.3rem 1.5rem 0.6rem; }
.label h2 { border-bottom: 6px solid var(--ink); padding-bottom: 0.6rem; margin: 0; }
dl { margin: 0; }
dl > div { display: grid; grid-template-columns: 11rem 1fr; gap: 0.2rem 1.4rem; padding: 0.65rem 0;
  border-bottom: 1px solid var(--hairline); }
dl > div:last-child { border-bottom: 0; }
dt { color: var(--faint); } dd { margin: 0; }
dd ul { list-style: none; margin: 0; padding: 0; } small { display: block; }
code { font: 0.82rem/1.5 "Source Code Pro", ui-monospace, monospace; }
figure { margin: 0; } figure svg { width: 100%; min-width: 34rem; height: auto; display: block; }
figcaption { color: var(--faint); font-size: 0.95rem; margin-top: 0.7rem; }
svg text { fill: var(--ink); font: 13px "Source Sans 3", "Segoe UI", system-ui, sans-serif; }
svg .tick { fill: var(--faint); font-size: 12px; }
svg [class^="shade-"] { shape-rendering: crispEdges; }
.box { fill: none; stroke: var(--hairline); } .grid { stroke: var(--hairline); } .axis { stroke: var(--faint-shape); }
.hatch { stroke: var(--faint-shape); stroke-width: 1.2; }
.band { fill: var(--teal-shape); fill-opacity: 0.22; } .bar-shape { fill: var(--teal-shape); }
.line { fill: none; stroke: var(--teal-shape); stroke-width: 2.5; stroke-linejoin: round; }
.whisker { stroke: var(--ink); stroke-width: 1.5; fill: none; }
.wide { overflow-x: auto; overscroll-behavior-x: contain; }
.wide:focus-visible { outline: 2px solid var(--ink); outline-offset: 4px; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; width: 100%;
  overflow-wrap: normal; }
th, td { text-align: right; padding: 0.35rem 0.7rem; border-bottom: 1px solid var(--hairline); white-space: nowrap; }
th { color: var(--faint); font-weight: 500; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
@media (max-width: 36rem) { dl > div { grid-template-columns: 1fr; } .label { padding-inline: 1rem; } }
@media (forced-colors: active) { .bar span { background: CanvasText; } .bar { border: 1px solid CanvasText; } }
@media print {
  :root { color-scheme: light; --paper: #fff; }
  @page { margin: 18mm; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; }
  .label, figure, table, .odds, tr, dl > div { break-inside: avoid; } h2 { break-after: avoid; }
  .bar, .bar span, svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .wide { overflow: visible; } section { margin-top: 1.6rem; }
}
"""
)


MOST_ROWS = 20  # Rows of a table that are printed; the file answers the rest.
ROUNDED = ("estimate", "low", "high")  # Columns of answers that are rounded to what their error supports.
HEADS = {"significant": "more than noise", "anomalous": "unusual", "certain": "surely"}
# Columns of answers that intervals and marks already speak of.
NOT_PRINTED = ("standard_error", "prominence", "prominence_error")
MOST_COLUMNS = 100  # Columns that the label lists.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
MARK = (
    '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><defs><filter id="frost" x="-60%" y="-60%" width="220%" '
    'height="220%"><feGaussianBlur stdDeviation="1.7"/></filter></defs><g class="mark-people"><circle cx="4.5" cy="11" '
    'r="2.3"/><circle cx="8.6" cy="18" r="2.3"/><circle cx="3.8" cy="23" r="2.3"/></g><rect class="mark-pane" x="12.5" '
    'y="1.5" width="18" height="29" rx="3"/><g class="mark-shape" filter="url(#frost)"><circle cx="21.5" cy="17.5" '
    'r="5.5"/><circle cx="20" cy="13.5" r="3.4"/></g></svg>'
)


def report_html(
    release: Release,
    steps: Sequence[Step] | None = None,
    file: bytes | None = None,
    part: Release | None = None,
    whom: str = "",
    compared: tuple[Comparison, str] | None = None,
) -> str:
    """A report of a release.

    Parameters
    ----------
    steps : Sequence[Step] | None
        What was asked of it; None shows the density over its first one or two columns.
    file : bytes | None
        Contents of its file, where it is at hand, for the fingerprint.
    part, whom : Release | None, str
        Of a release with classes, the one that was asked, or all together, and its name in words.
    compared : tuple[Comparison, str] | None
        Of tables, the difference to another release, and what that one is called.
    """
    label = privacy_label(release, file)
    steps = _overview(release) if steps is None else steps
    names = listed([column.name for column in label.columns])
    asked = release if part is None else part
    counts = asked.sketch.asked_for == "tables"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Released: {in_html(names)}</title><style>{STYLE}</style></head><body><main>",
        *_head(label, names),
        *_promise(label),
        *_label(label),
        *(part for place, step in enumerate(steps, start=1) for part in _section(asked, step, f"step-{place}", whom)),
        *(counts_html(asked) if counts else ()),
        *(differences_html(*compared) if counts and compared is not None else ()),
        *_reading(label, counts),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _overview(release: Release) -> tuple[Step, ...]:
    if (
        release.sketch.count_shape
        or release.domain.holds_sets
        or release.parts
        or release.sketch.asked_for == "tables"  # whose columns are all drawn
    ):  # a picture is of one class, and of places
        return ()
    axes = tuple(column.name for column in release.domain.columns if not isinstance(column, Vector))[:2]
    return (Density(axes, {}),) if axes else ()


def _head(label: PrivacyLabel, names: str) -> Iterator[str]:
    yield f"<header>{MARK}<p class='made'>Released on {day(label.created)} with {in_html(label.software)}</p>"
    yield f"<h1>{in_html(names)}</h1>"
    if label.private:
        yield (
            f"<p class='lead'>A noisy table was released in place of {in_html(label.records)} records. It answers "
            "questions about all of them together, for ever, and hides every single one.</p></header>"
        )
    else:
        yield (
            "<p class='lead warning'>This is a file for teaching. Its noise can be repeated, so it protects nobody; "
            "never make one from records of real people.</p></header>"
        )


def _promise(label: PrivacyLabel) -> Iterator[str]:
    if not label.private:
        return
    share = 100 * (2 * label.odds - 1)
    yield "<section aria-labelledby='promise'><h2 id='promise'>What is promised</h2>"
    yield f"<p class='odds'>{in_html(label.odds_in_words)}</p>"
    yield (
        f"<div class='bar' role='img' aria-label='{percent(label.odds, 3)} on a scale from 50% to 100%'>"
        f"<span style='width:{share:.2f}%'></span></div>"
        "<p class='scale'><span>50%, a coin flip</span><span>100%, certainty</span></p>"
    )
    sentences = (
        "That is the worst case: a guesser who knows everyone else's records and has all the time in the world.",
        label.slack,
        label.overlap,
    )
    yield f"<p>{in_html(' '.join(sentence for sentence in sentences if sentence))}</p></section>"


def _label(label: PrivacyLabel) -> Iterator[str]:
    yield "<section class='label' aria-labelledby='label'><h2 id='label'>Privacy label</h2><dl>"
    yield from _fact("Protected", label.protected if label.private else "nobody: a file for teaching")
    yield from _fact("Promise" if label.private else "Promise it would have", label.promise)
    yield from _fact("Hidden", label.hidden)
    if label.one_record:
        yield from _fact("One record", label.one_record)
    yield from _fact("Records", label.records, label.records_source)
    yield f"<div><dt>Columns, from public knowledge</dt><dd><ul>{''.join(_columns(label))}</ul></dd></div>"
    yield from _fact("Records that do not fit", label.left_out)
    if label.parts:
        yield from _fact("Questions", _capital(label.table))
        for part in label.parts:
            what = f"{listed(part.columns)}; {percent(part.share, 2)} of the budget"
            yield from _fact(in_html(part.name), what, *part.sentences)
    else:
        yield from _fact(label.asked, f"{_capital(label.measured)}.", *filter(None, [label.clipped]))
        yield from _fact("Table", _capital(label.table), *filter(None, [label.chosen, label.classes]), *label.noise)
        yield from _fact("Noise in an answer", label.answer_noise_in_words)
    yield from _fact("Why it holds", label.theorem, *filter(None, [label.audited]))
    yield from _fact("Made", f"{minute(label.created)} by {label.software}")
    if label.fingerprint:
        fingerprint = f"<code>{label.fingerprint}</code><small>SHA-256 of the file</small>"
        yield f"<div><dt>Fingerprint</dt><dd>{fingerprint}</dd></div>"
    yield "</dl></section>"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _columns(label: PrivacyLabel) -> Iterator[str]:
    for column in label.columns[:MOST_COLUMNS]:
        yield f"<li><strong>{in_html(column.name)}</strong> {in_html(column.values)}</li>"
    if len(label.columns) > MOST_COLUMNS:
        yield f"<li>and {len(label.columns) - MOST_COLUMNS:,} further columns</li>"


def _fact(name: str, value: str, *notes: str) -> Iterator[str]:
    below = "".join(f"<small>{in_html(note)}</small>" for note in notes)
    yield f"<div><dt>{name}</dt><dd>{in_html(value)}{below}</dd></div>"


def _section(release: Release, step: Step, identity: str, whom: str) -> Iterator[str]:
    title = f"{_title(release, step)} ({shown(whom)})" if whom else _title(release, step)
    yield f"<section aria-labelledby='{identity}'><h2 id='{identity}'>{in_html(title)}</h2>"
    if isinstance(step, Density):
        picture = step.call.of(release)
        yield "<figure><div class='wide' tabindex='0' role='region' aria-label='Picture'>"
        yield picture_svg(release, picture, f"{identity}-picture") + "</div>"
        yield f"<figcaption>{in_html(in_words(release, picture))} {in_html(_others(picture))}</figcaption></figure>"
    else:
        yield from _table(step.table(release), release.domain.names)
    yield "</section>"


def _title(release: Release, step: Step) -> str:
    return f"{drawn(release)} over {listed(step.columns)}" if isinstance(step, Density) else step.title


def _others(picture: Curve | Heatmap) -> str:
    """A sentence about the columns that are not drawn."""
    sentences = []
    if picture.at:
        held = [f"{shown(name)} at {_cell(value)}" for name, value in picture.at.items()]
        sentences.append(f"Held: {listed(held)}.")
    if picture.averaged:
        sentences.append(f"Averaged over all values, likely or not: {listed(picture.averaged)}.")
    return " ".join(sentences)


def _table(table: pd.DataFrame, names: Sequence[str]) -> Iterator[str]:
    """A table of answers; the first columns are those of the release, ``names``."""
    errors = None if "standard_error" in names else table.get("standard_error")
    columns = [name for name in table.columns if name in names or name not in NOT_PRINTED]
    heads = (name if name in names else HEADS.get(name, name) for name in columns)
    yield "<div class='wide' tabindex='0' role='region' aria-label='Answers'><table><thead><tr>"
    yield "".join(f"<th scope='col'>{in_html(shown(head))}</th>" for head in heads)
    yield "</tr></thead><tbody>"
    for place, row in enumerate(table[columns].head(MOST_ROWS).itertuples(index=False, name=None)):
        error = None if errors is None else float(errors.iloc[place])
        cells = (_cell(v, error if name in ROUNDED else None) for name, v in zip(columns, row, strict=True))
        yield f"<tr>{''.join(f'<td>{in_html(cell)}</td>' for cell in cells)}</tr>"
    yield "</tbody></table></div>"
    if len(table) > MOST_ROWS:
        yield f"<p class='note'>The first {MOST_ROWS} of {len(table):,} rows.</p>"


def _cell(value: object, error: float | None = None) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if error is not None:
        return best_guess(float(value), error)
    return significant(value, 4) if isinstance(value, (int, float)) else shown(str(value))


def _reading(label: PrivacyLabel, counts: bool) -> Iterator[str]:
    if counts:
        answer = (
            f"Shares say how many of all {label.counted} are in a cell. Lines across bars and what stands in brackets "
            "hold the exact number in 95 of 100 cases. What cannot be told from none is hatched up to where it very "
            "likely ends."
        )
    elif label.parts:
        answer = (
            "The release answers several questions about the same records under one promise; each has its own share of "
            "the budget, and so its own noise. Bands and intervals hold the exact answer in 95 of 100 cases unless "
            "said otherwise."
        )
    elif label.asked == "Distance":
        answer = (
            f"An answer adds up how far all {label.counted} are from a place; divided by their number it is the "
            "average distance. Bands and intervals hold the exact answer in 95 of 100 cases unless said otherwise."
        )
    else:
        answer = (
            f"An answer counts {label.counted} close by: whoever is exactly at a place counts in full, and whoever is "
            "farther away counts less. Bands and intervals hold the exact answer in 95 of 100 cases unless said "
            "otherwise. Where the noise is larger than what could be there, a picture is hatched: nothing is known "
            "about such places, and they may be empty."
        )
    yield (
        f"<section aria-labelledby='reading'><h2 id='reading'>How to read it</h2><p>{answer}</p><p>Everything in this "
        "report was computed from the released file alone. Anyone who has the file can ask it more, at no further cost "
        "in privacy, and can check by its fingerprint that it is the one described here.</p></section>"
    )
