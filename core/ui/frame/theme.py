"""The look that Streamlit's configuration cannot express: one style sheet, for both themes.

``light-dark()`` picks its colour by the theme the visitor chose, because Streamlit sets ``color-scheme`` on the app,
and ``browser_scripts.py`` on what opens over it.
"""

from __future__ import annotations

import streamlit as st

from ...figures.drawings import (
    density_picture,
    distance_picture,
    group_picture,
    picture_style,
    regression_picture,
    table_picture,
)
from ...figures.palette import AMBER, FAINT, INK, PAPER, TEAL, Colour


def _variable(name: str, colour: Colour) -> str:
    return f"--{name}: light-dark({colour.light}, {colour.dark}); --{name}-shape: {colour.shape};"


VARIABLES = "".join(
    _variable(name, colour)
    for name, colour in [("amber", AMBER), ("teal", TEAL), ("ink", INK), ("faint", FAINT), ("paper", PAPER)]
)

QUESTIONS = picture_style(
    "release-question",
    [
        (table_picture(), "Bars of three columns; in each the bars of one part stand out."),
        (density_picture(), "A hilly outline; a dashed line asks how high it is at one place."),
        (distance_picture(), "Lines from many points to one place among them."),
        (group_picture(), "Two groups of points, and a place between them with an arrow to the nearer group."),
        (regression_picture(), "Points about a rising line with a band around it."),
    ],
)
# The app, and what opens over it, which lies beside it: lists, help, dialogs.
ANYWHERE = ':is(.stApp, [id="stFloatingOverlayPortal"], [data-testid="portal"])'
STYLE = (
    f"""
.stApp {{ {VARIABLES} --hairline: light-dark(#DCE3E4, #2A3439); }}
{QUESTIONS}
"""
    + """
/* A page: one calm column with wide margins; on very large screens everything grows together. */
@media (min-width: 2400px) { html:root { font-size: 20px; } }
@media (min-width: 3400px) { html:root { font-size: 26px; } }
.stMainBlockContainer { max-width: 75rem; padding-inline: clamp(1.1rem, 5vw, 4.5rem); }
[data-testid="stBottomBlockContainer"] { max-width: 75rem; padding: 0.7rem clamp(1.1rem, 5vw, 4.5rem); }
[data-testid="stBottom"] > div { border-top: 1px solid var(--hairline); }
/* What the keyboard comes to is scrolled out from under the header and the main action. */
.stMain { scroll-padding: 4.5rem 0 1rem; &:has([data-testid="stBottom"]) { scroll-padding-bottom: 7rem; } }
@media (max-width: 640px) { [class*="st-key-action-"] { row-gap: 0.4rem; } }
[data-testid="stSidebar"][aria-expanded="true"] { min-width: min(14.5rem, 100vw); }
.stApp h1, .stApp h2 { letter-spacing: -0.012em; text-wrap-style: balance; }
.stApp h2 { font-size: 1.5rem; }
/* Once a file is open, its picture matters and not what the page is for: it fills the window. */
.stMainBlockContainer:has(.fg-opened) {
  max-width: 125rem; container-type: inline-size;
  @media (min-width: 769px) {
    padding: 1rem 1.5rem;
    & > div > [data-testid="stLayoutWrapper"]:has(.st-key-fg-nav) { display: none; }
    & .stColumn:has(.st-key-fg-stage) { container-type: inline-size; }
    & .st-key-fg-stage:has(.stPlotlyChart) {
      --room: max(26rem, calc(100vh - 14.4rem)); height: min(var(--room), calc(100cqw * var(--shape, 9) + 11rem));
      flex: none; }
    & .st-key-fg-stage:has(.st-key-explore-pairs) { height: max(26rem, calc(100vh - 15.2rem)); }
    & .fg-opened { margin: 0 2.5rem 0.2rem 0; } /* clear of the menu, and of the sign where the links are closed */
    .stApp:has([data-testid="stExpandSidebarButton"]) & .fg-opened { margin-left: 4.5rem; }
  }
  & > div { gap: 0.6rem; }
  & .stElementContainer:has(h1) { position: absolute; width: 1px; height: 1px; overflow: hidden;
    clip-path: inset(50%); } /* the links say where this is */
  & .stElementContainer:has(.fg-lead),
    & > div > [data-testid="stLayoutWrapper"]:has(.st-key-fg-promise, .st-key-fg-roles) { display: none; }
}
.stApp p.fg-opened { font-size: 0.95rem; }
@media (min-width: 769px) { /* on a phone what scrolls by would lie under the sign in the header */
  .stApp:has(.fg-opened) [data-testid="stHeader"] { background: none; pointer-events: none;
    & button, & a { pointer-events: auto; } }
}
.fg-opened strong { display: inline-block; max-width: 14rem; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; vertical-align: bottom; }
.stApp:has(.fg-opened) [data-testid="stBottomBlockContainer"] { max-width: 125rem;
  @media (min-width: 769px) { padding-inline: 1.5rem; } }
@media (min-width: 769px) { /* what is chosen about a picture is one line above it */
  .st-key-fg-folding { & details { border: 0; background: none; } & summary { display: none; }
    & [data-testid="stExpanderDetails"] { padding: 0; border: 0; overflow: visible; } }
  .st-key-fg-choices :is([data-testid="stSelectbox"], [data-testid="stButtonGroup"]) {
    display: flex; flex-direction: row; align-items: center; gap: 0.6rem;
    & > [data-testid="stWidgetLabel"] { margin: 0; min-height: 0; width: auto; flex: none; white-space: nowrap; }
    & > div:not([data-testid]) { flex: 1; min-width: 0; } }
}
@media (max-width: 768px) {
  .st-key-fg-stage:has(.stPlotlyChart) { height: var(--narrow, auto); flex: none; }
  .st-key-fg-stage:has(.st-key-explore-pairs) { height: calc(100vw + 9rem); }
}
@media (max-width: 640px) { /* names below narrow pictures slant, as they would run into each other */
  .st-key-explore-pairs .infolayer > [class^="g-x"] text { transform-box: fill-box; transform-origin: 100% 0;
    transform: translateX(-45%) rotate(-50deg); } }
@container (max-width: 84rem) { .fg-roomy { display: none; } }
@media (max-width: 640px) { /* two columns of a map are chosen side by side, and what a file offers is one line */
  .stApp .st-key-x, .stApp .st-key-y { flex: 0 0 calc(50% - 0.5rem) !important; width: auto; }
  .st-key-fg-views .stElementContainer:has([role="radiogroup"]) { flex: 1 1 100%;
    & button { padding-inline: 0.3rem; & p { font-size: 0.82rem; } } }
  :is(.st-key-local-view, .st-key-person-oracle) button { padding-inline: 0.6rem; }
  [data-testid="stButtonGroup"] [role="radiogroup"] { flex-wrap: wrap; overflow: visible; row-gap: 0.25rem; }
  .st-key-fg-views { gap: 0.35rem; & [data-testid="stPopover"] button { padding-inline: 0.55rem; }
    & .stElementContainer:has(> .stSpace) { display: none; } }
  .stApp:has(.fg-opened) [data-testid="stBottomBlockContainer"] .stElementContainer:has(p):not(:has(button)) {
    display: none; }
}
.st-key-fg-roles { display: none; } /* it takes no room */
.stApp p, .stApp li { text-wrap-style: pretty; }
.stApp :focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
@media (forced-colors: active) { .stApp :focus-visible { outline-color: Highlight; } }

/* Streamlit takes back a paragraph's margin below every text; the texts drawn here have none to take back. */
[data-testid="stMarkdownContainer"]:has(> .fg) { margin-bottom: 0; }
.stApp .fg p, .stApp .fg ul { margin: 0; }

/* The chosen one of several: Streamlit would write it in the primary colour, which is too dark on the dark theme. */
[data-testid="stButtonGroup"] button[data-selected], .stApp [role="tab"][aria-selected="true"],
.stApp [data-testid="stSliderThumbValue"] { color: var(--ink) !important; }

/* A name that is too long for its button goes on in the next line; Streamlit would cut it. */
.stApp .stButton [data-testid="stMarkdownContainer"] { &, & p { white-space: normal !important; }
  [kind="tertiary"] & { text-align: left; }
  overflow: visible !important; }

/* Under the pointer, or with what they open open, buttons would be written in the primary colour too. */
.stApp :is([data-testid^="stBaseButton-secondary"], [data-testid^="stBaseButton-tertiary"], [data-testid="stPopover"]
  button):is(:hover, :active, :focus, [aria-expanded="true"]):not(:disabled) { color: var(--ink) !important;
  border-color: var(--faint); }
.stApp [data-testid="stBaseButton-tertiary"]:is(:hover, :active, :focus) { border-color: transparent; }

/* Streamlit fades captions and closed expanders to 60%, below AA on the light theme. */
.stApp [data-testid="stExpander"] summary { opacity: 1; color: var(--faint); }
.stApp [data-testid="stWidgetLabel"][disabled] * { color: var(--faint); } /* what was chosen before is still read */
.stApp [data-testid="stCaptionContainer"], .stApp [data-testid="stCaptionContainer"] * {
  opacity: 1; color: var(--faint); }

/* What was opened over a page would lie over a question that it leads to. */
body:has([data-testid="stDialog"]) [data-testid="stPopoverBody"] { display: none; }

/* Navigation. */
.stApp .fg-group { font-size: 0.8rem; color: var(--faint); margin: 0.9rem 0 -0.5rem; }
.st-key-fg-nav { display: none; }
@media (max-width: 768px) {
  .st-key-fg-nav { display: flex; margin-inline: -0.5rem; row-gap: 0.5rem; }
  [data-testid="stSidebar"] { display: none; }
  [data-testid="stExpandSidebarButton"] { visibility: hidden; }
}

/* On a projector: everything larger, and nothing beside the page. */
html:root:has(.fg-presenting) { font-size: clamp(20px, min(1.75vw, 2.5vh), 34px); }
.stElementContainer:has(.fg-presenting, > .stHtml) { display: none; }
.stApp:has(.fg-presenting, .fg-tour) {
  & [data-testid="stSidebar"], & .st-key-fg-nav, & .fg-footer, & [data-testid="stExpandSidebarButton"],
  & [data-testid="stHeader"] { display: none; }
  & .stMainBlockContainer { max-width: 100rem; padding-top: 1rem; }
  & [class*="st-key-play-"], & [class*="st-key-play-"] .stButton { min-width: 5.6rem; }
  & .st-key-present-end { position: absolute; top: 0.2rem; right: 1rem; width: auto; z-index: 2; }
  &:has(.st-key-lesson) [data-testid="stBottom"] { display: none; } /* keys go on, and the picture needs the room */
}

.stApp:has(.fg-presenting) .stPlotlyChart {
  & text { font-size: max(0.72rem, 14px) !important; } & .legend .scrollbox { clip-path: none; }
}
html:root:has(.fg-tour) { font-size: clamp(16px, min(1.75vw, 2.1vh), 30px); }
.stApp:has(.fg-tour) .modebar { display: none; }
@media (max-width: 480px) { [class*="-live-"] .modebar { display: none; } } /* it would lie on the words */

/* What is private, what is public: a word, a shape and a colour, never the colour alone. */
.fg-private { color: var(--amber); } .fg-public { color: var(--teal); }
.fg-mark { display: inline-flex; gap: 0.45em; align-items: baseline; font-size: 0.92rem; font-weight: 500; }
.fg-mark svg { width: 0.95em; height: 0.95em; flex: none; transform: translateY(0.1em); }
.stApp .fg-lead { font-size: 1.13rem; line-height: 1.55; color: var(--faint); max-width: 40rem; }
.stApp .fg-note { font-size: 0.92rem; line-height: 1.5; color: var(--faint); }
.stApp .fg-footer { border-top: 1px solid var(--hairline); margin-top: 4rem; padding-top: 1rem; font-size: 0.85rem;
  color: var(--faint); }
[class*="st-key-fg-private-"] { padding-left: 1.1rem; border-left: 2px solid var(--amber-shape); }
[class*="st-key-fg-public-"] { padding-left: 1.1rem; border-left: 2px solid var(--teal-shape); }

/* The side of a page stays in view while the main part scrolls; on narrower screens it follows the main part. */
@media (min-width: 900px) {
  [data-testid="stColumn"]:has([class*="st-key-fg-side-"]) { position: sticky; top: 4rem; align-self: flex-start; }
  [class*="st-key-fg-side-"] { max-height: calc(100vh - 9.5rem); overflow-y: auto; scrollbar-width: thin; }
}
@media (max-width: 899px) {
  [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"] [class*="st-key-fg-side-"]) {
    flex-wrap: wrap;
    & > [data-testid="stColumn"] { flex: 1 1 100%; min-width: 100%; }
  }
}

/* Lists of facts, what is missing, bars. */
body .fg-facts { list-style: none; padding: 0; font-size: 0.95rem; }
body .fg-facts li { margin: 0; padding: 0.35rem 0; border-bottom: 1px solid var(--hairline);
  overflow-wrap: anywhere; }
.fg-facts li:last-child { border-bottom: 0; }
.fg-facts small { color: var(--faint); font-size: 0.85rem; display: block; }
.stApp .fg-missing { font-size: 0.92rem; line-height: 1.4; color: var(--faint); }
.fg-bar { display: flex; height: 0.6rem; border-radius: 0.3rem; overflow: hidden; background: var(--hairline);
  margin: 0.5rem 0 0.3rem; }
.fg-bar span { background: var(--ink); } .fg-bar span + span { background: var(--faint); opacity: 0.7; }
.fg-scale { display: flex; justify-content: space-between; font-size: 0.8rem; color: var(--faint); }
.stApp .fg-odds { font-size: 1.02rem; line-height: 1.5; }
.fg-odds strong { font-weight: 600; white-space: nowrap; } .fg-whole { white-space: nowrap; }

/* One row a column: in line with a heading where there is room, in two lines with labels where there is not. */
[class*="st-key-fg-table-"] { container-type: inline-size; }
[class*="st-key-fg-rows-"] { border-bottom: 1px solid var(--hairline); }
[class*="st-key-fg-row-"] {
  border-top: 1px solid var(--hairline); padding: 0.45rem 0; min-height: 3.4rem;
  & [class*="st-key-use-"] { flex: 1 1 5.8rem !important; width: auto !important; }
  & [class*="st-key-as-"] { flex: 0 0 8.6rem !important; }
  & [class*="st-key-low-"], & [class*="st-key-high-"], & [class*="st-key-longest-"],
  & [class*="st-key-first-"], & [class*="st-key-last-"] {
    flex: 0 0 6.4rem !important; & button { display: none; } }
  & [class*="st-key-unit-"], & [class*="st-key-format-"] { flex: 0 0 4.8rem !important; }
  & [class*="st-key-missing-"] { flex: 0 0 5.6rem !important; }
}
.fg-heads { display: flex; gap: 0.5rem; font-size: 0.8rem; color: var(--faint); margin-bottom: -0.6rem; }
.fg-heads span:nth-child(1) { flex: 1 1 5.8rem; } .fg-heads span:nth-child(2) { flex: 0 0 8.6rem; }
.fg-heads span:nth-child(3), .fg-heads span:nth-child(4) { flex: 0 0 6.4rem; }
.fg-heads span:nth-child(5) { flex: 0 0 4.8rem; } .fg-heads span:nth-child(6) { flex: 0 0 5.6rem; white-space: nowrap; }
@container (max-width: 40.4rem) {
  .fg-heads, [class*="st-key-fg-row-"] .stElementContainer:has(.fg-bound, .fg-gap, .fg-gaps) { display: none; }
  [class*="st-key-fg-row-"] { align-items: flex-end; /* labels of one line and of two, and their fields in line */
    & [class*="st-key-as-"] { flex: 0 0 9rem !important; }
    & [class*="st-key-low-"], & [class*="st-key-high-"], & [class*="st-key-longest-"], & [class*="st-key-first-"],
    & [class*="st-key-last-"], & [class*="st-key-unit-"], & [class*="st-key-format-"] { flex: 1 1 5.8rem !important; }
    & [class*="st-key-missing-"] { flex: 1 1 100% !important; } } }
@container (min-width: 40.5rem) {
  [class*="st-key-fg-row-"] {
    & .stElementContainer:has(.fg-rest) { flex: 0 0 33.8rem !important; }
    & .stElementContainer:has(.fg-said) { flex: 0 0 24.7rem !important; }
    & .stElementContainer:has(.fg-half) { flex: 0 0 18.6rem !important; }
    & .stElementContainer:has(.fg-ends) { flex: 0 0 13.3rem !important; }
    & .stElementContainer:has(.fg-many) { flex: 0 0 4.8rem !important; }
    & .stElementContainer:has(.fg-bound) { flex: 0 0 6.4rem !important; }
    & .stElementContainer:has(.fg-gap) { flex: 0 0 5.6rem !important; }
    & .stElementContainer:has(.fg-gaps) { flex: 0 0 10.9rem !important; }
    & [class*="st-key-categories-"] { flex: 0 0 18.6rem !important; }
  }
  [class*="st-key-fg-rows-"] .stElementContainer:not([class*="st-key-use-"]) [data-testid="stWidgetLabel"] {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
}

/* The gallery: as many pictures a line as fit. */
.st-key-fg-pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(6.4rem, 1fr)); }
.st-key-fg-pictures > div { width: auto !important; min-width: 0; max-width: 12rem;
  & button { align-items: flex-start; min-height: 0; & p { text-align: left; } } }

/* Compare: small maps in a row, the mark of a method beside its name, and no moving pictures for who wants none. */
.st-key-fg-maps { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.2rem, 1fr)); gap: 1rem; }
.st-key-fg-maps > div { width: auto !important; min-width: 0; }
.stApp .fg-map-title { font-size: 0.9rem; font-weight: 500; line-height: 1.3; min-height: 2.6em; display: flex;
  align-items: flex-end; }
[class*="st-key-fg-steady-"] [data-stale="true"] { opacity: 1 !important; } /* looked at again every second */
.fg-swatch { width: 1.75rem; height: 0.75rem; margin-right: 0.5rem; flex: none; }
.fg-paper { color: var(--faint); font-size: 0.85rem; margin-left: 0.4rem; }
@media (prefers-reduced-motion: reduce) { .st-key-compare-playing { display: none; } }

/* On a phone a figure fills the screen: a finger on it scrolls the page, and what a click would do has fields. */
.fg-touch { display: none; }
@media (pointer: coarse) and (max-width: 640px) {
  .stPlotlyChart .drag { pointer-events: none !important; }
  .fg-touch { display: block; } .fg-mouse { display: none; }
}

/* The overview of a table: as many columns a line as fit, greyed where something was not measured. */
.st-key-fg-overview { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr));
  gap: 1.6rem 1.8rem; }
.st-key-fg-overview > div { width: auto !important; min-width: 0; }
.stApp .fg-name { font-size: 1rem; font-weight: 600; padding: 0; margin: 0 0 0.2rem; }
.fg-name small { font-weight: 400; color: var(--faint); font-size: 0.85rem; }
.stApp .fg-numbers { border-collapse: collapse; width: 100%; font-size: 0.88rem; margin: 0.2rem 0 0; }
.stApp .fg-numbers :is(th, td) { border: 0; border-top: 1px solid var(--hairline); padding: 0.15rem 0.3rem 0.15rem 0;
  text-align: left; font-weight: 400; font-variant-numeric: tabular-nums; }
.stApp .fg-numbers th { color: var(--faint); } .stApp .fg-numbers td:nth-child(3) { color: var(--faint); }
.stApp .fg-numbers td:nth-child(2) { white-space: nowrap; } .stApp .fg-numbers td:last-child { width: 55%; }
.st-key-fg-overview > div:has(> [class*="st-key-fg-line-"]) { grid-column: 1 / -1; }
[class*="st-key-fg-greyed-"] { filter: grayscale(1); opacity: 0.55; }

/* Lessons: names with a capital letter (in the address they have none), what to do and to see, tables of counts. */
.st-key-lesson button p::first-letter { text-transform: uppercase; }
.stApp .fg-lesson { padding: 0.1rem 0 0.6rem; margin: 0; font-size: 2rem; }
.stApp .fg-task { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 0.9rem; margin: 0;
  font-size: 1.06rem; line-height: 1.5; max-width: 54rem; }
.fg-task dt { font-weight: 600; } .fg-task dd { margin: 0; }
.stApp .fg-told h2 { padding: 0 0 0.4rem; margin: 0; font-size: 1.05rem; } .stApp .fg-told p { line-height: 1.6; }
.stApp .fg-finding { font-size: 1.15rem; } .stApp .fg-finding small { display: block; color: var(--faint); }
.fg-finding small { font-size: 0.92rem; line-height: 1.5; margin-top: 0.2rem; }
.stApp .fg-counts { border-collapse: separate; border-spacing: 3px; width: 100%; table-layout: fixed; margin: 0; }
.stApp .fg-counts :is(th, td) { border: 0; padding: 0.3rem 0.1rem; text-align: center;
  font-variant-numeric: tabular-nums; }
.stApp .fg-counts th { width: 3.6rem; text-align: left; font-weight: 400; color: var(--faint); white-space: nowrap; }
.fg-counts-private .fg-one { background: color-mix(in srgb, var(--amber-shape) 14%, transparent); }
.fg-counts-public .fg-one { background: color-mix(in srgb, var(--teal-shape) 14%, transparent); }
.stApp .fg-counts .fg-one { border-radius: 0.25rem; }
.stApp .fg-counts .fg-met { outline: 2px solid var(--ink); outline-offset: -2px; font-weight: 600; }
.stApp .fg-counts .fg-now th { color: var(--ink); font-weight: 600; }
.stApp .fg-file { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 0.9rem; margin: 0;
  font-size: 0.95rem; }
.fg-file dt { color: var(--faint); } .fg-file dd { margin: 0; overflow-wrap: anywhere; }

/* On a projector, and other low windows, an experiment starts further up, so that it is in view as a whole. */
@media (max-height: 800px) and (min-width: 900px) {
  .stMainBlockContainer:has(.fg-lesson) { padding-top: 0; }
  .stApp:has(.fg-lesson) [data-testid="stHeader"] { background: none; /* the lessons stand beside its menu */
    &, & * { pointer-events: none; } & button, & button * { pointer-events: auto; } }
  .stMainBlockContainer:has(.fg-lesson) > div { gap: 0.6rem; }
  .stApp .fg-lesson { font-size: 1.6rem; padding-bottom: 0.2rem; } .stApp .fg-task { font-size: 1rem; row-gap: 0; }
  .stApp .fg:has(> .fg-lesson) .fg-group { float: right; margin: 0.5rem 0 0; }
}

/* Drawings. */
.st-key-fg-hero h1 { font-size: clamp(2.5rem, 5.2vw, 4rem); line-height: 1.1; }
/* Drawings are black without their colours, so they wait for them: `opacity` in an SVG yields to a style sheet. */
.fg-hero svg, .fg-step svg { opacity: 1; }
.fg-hero svg { width: 100%; max-width: 40rem; display: block; }
.fg-step svg { width: 100%; max-width: 17rem; display: block; }
.stApp .fg-step p { margin-top: 0.8rem; max-width: 24rem; }
.fg-dot { fill: var(--amber-shape); } .fg-cloud { fill: var(--teal-shape); }
.fg-line { stroke: var(--faint); stroke-width: 1; fill: none; opacity: 0.75; }
.fg-pane { fill: var(--paper); stroke: var(--faint); }
.fg-cell { fill: var(--teal-shape); }
.fg-digit { fill: var(--ink); font: 500 9px "Source Code Pro", monospace; text-anchor: middle; }
.fg-door { border-top: 2px solid var(--faint); padding-top: 0.9rem; }
.fg-door-private { border-top-color: var(--amber-shape); } .fg-door-public { border-top-color: var(--teal-shape); }
.stApp .fg-door h2 { padding: 0; margin: 0 0 0.4rem; }

/* A chosen one of several: Streamlit's own tint is hardly seen on dark. */
.stApp [data-variant="pills"][data-selected="true"] {
  background: color-mix(in srgb, var(--ink) 15%, transparent); }

/* The tour: large words, and a line that runs out as the step does, unless little motion is asked for. */
.stApp .fg-tour h1 { padding: 0.2rem 0 0.4rem; font-size: clamp(1.8rem, 4vw, 2.8rem); }
.fg-tour-clock { height: 3px; background: var(--hairline); margin-top: 0.6rem; }
.fg-tour-clock i { display: block; height: 100%; width: 0; background: var(--teal-shape); }
.fg-tour-plays .fg-tour-clock i { animation: fg-clock 15s linear forwards; }
@keyframes fg-clock { to { width: 100%; } }
.stMain .fg-tour-still { display: none; }
@media (prefers-reduced-motion: reduce) {
  .fg-tour-clock { display: none; } .stMain:has(.fg-tour-plays) .fg-tour-still { display: block; }
}
.stMain:has(.fg-tour) .fg-step svg { max-width: 34rem; }

/* Questions to choose from: a radio button that looks like a card, all of which can be pressed. */
.st-key-release-question [data-testid="stRadioGroup"] { display: grid; width: 100%; align-items: stretch;
  grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.7rem; }
.st-key-release-question [data-testid="stRadioGroup"] > div { position: relative; display: flex; gap: 0.15rem;
  flex-direction: column; border: 1px solid var(--hairline); border-radius: 0.5rem; padding: 0.9rem 1rem 0.8rem;
  margin: 0; }
.st-key-release-question [data-testid="stRadioGroup"] > div::before { display: block; width: 100%; max-width: 11rem;
  margin-bottom: 0.6rem; }
.st-key-release-question [data-testid="stRadioGroup"] > div:hover { border-color: var(--faint); }
.st-key-release-question [data-testid="stRadioGroup"] > div[data-selected] { border-color: var(--teal-shape);
  box-shadow: inset 0 0 0 1px var(--teal-shape); }
.st-key-release-question [data-testid="stRadioGroup"] > div:has(:focus-visible) { outline: 2px solid var(--ink);
  outline-offset: 2px; }
.st-key-release-question [data-testid="stRadioOption"] { margin: 0; }
.st-key-release-question [data-testid="stRadioOption"]::after { content: ""; position: absolute; inset: 0;
  cursor: pointer; }
.st-key-release-question [data-testid="stRadioOption"] p { font-weight: 600; position: relative; z-index: 1; }
.st-key-release-question [data-testid="stRadioCaption"] { margin: 0; padding: 0; }
@media (max-width: 640px) {
  .st-key-release-question [data-testid="stRadioGroup"] { grid-template-columns: 1fr; }
  .st-key-release-question [data-testid="stRadioGroup"] > div::before { max-width: 9rem; }
}

/* The forecast, and the truth beside it. */
.stApp .fg-figure { font-family: var(--st-heading-font, serif); font-size: 1.75rem; line-height: 1.3; }
.fg-figure span { font-size: 1.05rem; color: var(--faint); }
.st-key-fg-exact { border: 2px dashed var(--amber-shape); border-radius: 0.5rem; padding: 1rem 1.2rem; }
.st-key-data-path [data-testid="InputInstructions"] { display: none; } /* a button says the same beside it */
[data-testid="stFileUploaderDropzoneInstructions"] span { white-space: normal; } /* on a phone all kinds of files */
[data-testid="stFileUploaderDropzone"] { background: transparent; border: 1px dashed var(--faint); }
"""
).replace(".stApp ", f"{ANYWHERE} ")


def apply() -> None:
    """Put the style sheet into the page; the frame does it once a run."""
    st.html(f"<style>{STYLE}</style>")
