"""What Streamlit's configuration cannot express: one style sheet, and scripts that run in the visitor's browser.

On a projector type is large, there is no side bar, and arrow keys or a clicker go from lesson to lesson. What screen
readers are told by Streamlit's own parts is put right where it contradicts itself.

A browser takes almost a second of its processor to begin Streamlit's program for charts, and does so when the first
chart comes: after the click that asked for it. Here it begins when the browser has nothing else to do, which on a page
that draws by itself is some seconds later; small parts come while the server is still at work. Where a version of
Streamlit names its files otherwise, nothing is got ready, and everything comes when it is needed.

The style sheet is for both themes: ``light-dark()`` picks its colour by the theme the visitor chose, because Streamlit
sets ``color-scheme`` on the app, and a script here on what opens over it.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import streamlit as st

from ...figures.drawings import (
    density_picture,
    distance_picture,
    group_picture,
    model_picture,
    picture_style,
    regression_picture,
    table_picture,
)
from ...figures.palette import AMBER, FAINT, INK, PAPER, RED, TEAL
from .marks import draw

PRESENT = "present"  # Key of the switch, and its name in the address.
# A clicker sends PageDown and PageUp. Whoever is in a field or on a slider moves that; Escape ends it all.
PRESENTING_KEYS = """
window.fgPresenting ||= addEventListener("keydown", event => {
  if (!document.querySelector(".fg-presenting") || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Escape") return document.querySelector(".st-key-present-end button")?.click();
  if (event.target.closest("input, textarea, select, [role=slider], [role=radio], [role=combobox], [role=tab]")) return;
  const step = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  const lessons = [...document.querySelectorAll(".st-key-lesson button")];
  const here = lessons.findIndex(one => one.matches("[data-selected], [aria-checked=true]"));
  if (!step || here < 0) return;
  event.preventDefault();
  lessons[here + step]?.click();
  document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
}) || true;
"""


def offer_presenting() -> None:
    """The switch; its address begins a presentation on any page, ``?present=true``."""
    st.toggle(
        "Present",
        key=PRESENT,
        bind="query-params",
        persist_state="session",
        help="Large type, no side bar. On Learn the arrow keys or a clicker go from lesson to lesson. Escape ends it.",
    )


def presentation() -> None:
    """While it lasts: the mark that the style sheet looks for, the keys, and a button that ends it."""
    if not st.session_state.get(PRESENT):
        return
    draw('<i class="fg-presenting"></i>')
    st.html(f"<script>{PRESENTING_KEYS}</script>", unsafe_allow_javascript=True)
    st.button("End presentation", key="present-end", type="tertiary", on_click=_end)


def _end() -> None:
    st.session_state[PRESENT] = False


# A place to drop a file has a name and says that it has no meaning; it is a group: of a button and what it takes. What
# opens over the page, such as help, lies in no part of it; it is one of its own, and as light or dark as the page. The
# side of a page that is taller than the window, and code that is wider, can be scrolled by keys once they can be come
# to. A narrow window folds what is chosen about a picture, once, so that the picture is in view; one that is made wide,
# as a phone that is turned, has no line to click and shows it again.
ROLES = """
window.fgRoles ||= (() => {
  const beside = "#stFloatingOverlayPortal:not(:empty), [data-testid=portal]:not(:empty)";
  const scrolled = "[class*=st-key-fg-side-], [data-testid=stCode] pre";
  let due = 0, still;
  const drop = "[data-testid=stFileUploaderDropzone][role=presentation]";
  const folding = ".st-key-fg-folding details", open = "[open]:not([data-folded])", folded = "[data-folded]";
  const mend = () => {
    document.querySelectorAll(drop).forEach(one => one.setAttribute("role", "group"));
    const over = document.querySelector("#stFloatingOverlayPortal:not([role])");
    over?.setAttribute("role", "region");
    over?.setAttribute("aria-label", "Help and lists that are open");
    const narrow = innerWidth < 769;
    document.querySelectorAll(folding + (narrow ? open : folded)).forEach(one => {
      one.toggleAttribute("data-folded", narrow);
      if (one.open === narrow) one.querySelector("summary").click();
    });
    due ||= requestAnimationFrame(look);
    clearTimeout(still);
    still = setTimeout(measure, 200);  // it has the page laid out, which while that is built is thrown away
  };
  const look = () => {
    due = 0;
    const opened = document.querySelectorAll(beside), app = opened.length && document.querySelector(".stApp");
    if (!app) return;  // to ask for the style of anything has all of it worked out at once
    const scheme = getComputedStyle(app).colorScheme;
    opened.forEach(one => one.style.colorScheme = scheme);
  };
  const measure = () => {
    document.querySelectorAll(scrolled).forEach(one => {
      if (one.scrollHeight <= one.clientHeight + 1 && one.scrollWidth <= one.clientWidth + 1) {
        return one.removeAttribute("tabindex");
      }
      one.tabIndex = 0;
      one.setAttribute("role", "group");
      one.setAttribute("aria-label", one.querySelector(".fg-mark")?.innerText ?? "Code");
    });
  };
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", mend);
  mend();
  return true;
})();
"""


# On a phone a finger on a picture scrolls the page, so the style sheet keeps it from Plotly. A tap, which scrolls
# nothing, ends in a click, and that is handed on as a mouse makes it: over the place first, for Plotly to find it.
TAPS = """
window.fgTaps ||= addEventListener("click", async tap => {
  const plot = tap.isTrusted && tap.target.closest?.(".stPlotlyChart")?.querySelector(".js-plotly-plot");
  if (!plot || !matchMedia("(pointer: coarse) and (max-width: 640px)").matches) return;
  const within = one => {
    const box = one.getBoundingClientRect(), { clientX: x, clientY: y } = tap;
    return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
  };
  const there = [...plot.querySelectorAll(".nsewdrag")].find(within);
  if (!there) return;
  const place = { bubbles: true, clientX: tap.clientX, clientY: tap.clientY, view: window, buttons: 1 };
  there.dispatchEvent(new MouseEvent("mousemove", { ...place, buttons: 0 }));
  await new Promise(done => setTimeout(done, 100));
  there.dispatchEvent(new MouseEvent("mousedown", place));
  document.dispatchEvent(new MouseEvent("mouseup", { ...place, buttons: 0 }));
}) || true;
"""


def mend_roles() -> None:
    """Watch for such parts in the browser; the script runs once there, however often a page does."""
    with st.container(key="fg-roles"):
        st.html(f"<script>{ROLES}{TAPS}{_loading(PARTS)}</script>", unsafe_allow_javascript=True)


# Of Streamlit's program in the browser, what most pages need and Home does not: first what a picture comes with, which
# is small, and later fields, and the program for charts.
PARTS = ("BidiComponent", "ButtonGroup", "DownloadButton")
LATER = ("Selectbox", "NumberInput", "Slider", "PlotlyChart")
LATEST = 3000  # Milliseconds after which a browser that is never idle begins nevertheless.
DRAWING = 4000  # Milliseconds for which a page that draws by itself keeps the browser for that.


def load_in_browser(drawing: bool) -> None:
    """Let the visitor's browser load the rest once it is idle; on a page that is ``drawing`` by itself, after that."""
    idle = f"(window.requestIdleCallback ?? setTimeout)(() => {{{_loading(LATER)}}}, {{ timeout: {LATEST} }})"
    script = f"setTimeout(() => {idle}, {DRAWING if drawing else 0});"
    st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)


def _loading(names: Sequence[str]) -> str:
    """The line of a script that loads parts of Streamlit's program."""
    files = json.dumps([f"./static/js/{path.name}" for path in parts(names)])
    return f"for (const name of {files}) import(new URL(name, document.baseURI)).catch(() => null);"


@cache
def parts(names: Sequence[str]) -> tuple[Path, ...]:
    """The files of parts in the Streamlit that is installed."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    return tuple(path for part in names for path in sorted(folder.glob(f"{part}.*.js")))


VARIABLES = "".join(
    f"--{name}: light-dark({colour.light}, {colour.dark}); --{name}-shape: {colour.shape};"
    for name, colour in zip(
        ("amber", "teal", "ink", "faint", "paper", "wrong"), (AMBER, TEAL, INK, FAINT, PAPER, RED), strict=True
    )
)

QUESTIONS = picture_style(
    "release-question",
    [
        (table_picture(), "Bars of three columns; in each the bars of one part stand out."),
        (density_picture(), "A hilly outline; a dashed line asks how high it is at one place."),
        (distance_picture(), "Lines from many points to one place among them."),
        (group_picture(), "Two groups of points, and a place between them with an arrow to the nearer group."),
        (regression_picture(), "Points about a rising line with a band around it."),
        (model_picture(), "Three bars that lead to one dot."),
    ],
)
# The app, and what opens over it, which lies beside it: lists, help, dialogs.
ANYWHERE = ':is(.stApp, [id="stFloatingOverlayPortal"], [data-testid="portal"])'
FOLDER = Path(__file__).parent
STYLE = f"""
.stApp {{ {VARIABLES} --hairline: light-dark(#DCE3E4, #2A3439); }}
{QUESTIONS}
{(FOLDER / "theme.css").read_text(encoding="utf-8")}
""".replace(".stApp ", f"{ANYWHERE} ")


def apply() -> None:
    """Put the style sheet into the page; the frame does it once a run."""
    st.html(f"<style>{STYLE}</style>")
