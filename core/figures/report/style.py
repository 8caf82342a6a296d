"""The look of a report: the app's colours on screen, in light and dark, and ink on white paper in print."""

from __future__ import annotations

from ..palette import AMBER, FAINT, INK, PAPER, RED, TEAL, Colour
from ..scales import DARK_SHADES, LIGHT_SHADES


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
