// The page: what is shown, what is asked, and the answers in words.
import { fromBase64, populationOf, unpackedAnswers, unzipped } from "./bytes.js";
import { element, selectOf } from "./canvas.js";
import { compareView } from "./compare.js";
import { Still } from "./chart.js";
import { Controls, Explorer, decoderOf } from "./explorer.js";
import { modelView, regressionsView } from "./forms.js";
import { groupsView, listView, samplesButton } from "./lists.js";
import { Overview } from "./overview.js";
import { Reports } from "./reports.js";
import { tableOf, takeAlong } from "./take.js";
import { LocalReports, openLocal } from "../../../readers/javascript/local.js";
import { openModel } from "../../../readers/javascript/models.js";
import { openRelease } from "../../../readers/javascript/release.js";

/** What may be asked besides the picture: lists, made-up records, and which group it is like somewhere. */
const furtherViews = (release, explorer, stem) => {
  const parts = Object.values(release.parts);
  const found = [];
  const decoders = explorer?.controls.subjects ?? [];
  const groups = decoders.filter((one) => one.group && one.part === decoders.find(({ group }) => group).part);
  if (groups.length > 1 && groups.every(({ exact }) => exact)) {
    const view = groupsView(groups, explorer.controls);
    explorer.canvas.addEventListener("drawn", () => view.show());
    found.push(view);
  }
  if (!parts.length) found.push(listView(release, stem, !explorer));
  if (decoders.length && decoders.every(({ exact, answers, own }) => exact && answers === "closeness" && own.names.length === own.sketch.domain.names.length)
    && decoders[0].columns.length === decoders[0].own.names.length) found.push(element("p", {}, samplesButton(explorer.controls, stem)));
  return found;
};

const start = async () => {
  await Promise.all(['14px "Frostglass Sans"', '600 20px "Frostglass Serif"'].map((font) => document.fonts.load(font)));
  const take = (id) => document.getElementById(id).textContent;
  const [payload, file] = [await unzipped(take("payload")), fromBase64(take("file"))];
  const place = document.getElementById("explore");
  const pictured = payload.subjects.filter(({ kind }) => kind === "live" || kind === "lattice");
  const views = [];
  const tabled = payload.subjects.filter(({ kind }) => kind === "tables");
  const modelled = payload.mime === "application/json" && payload.subjects.some(({ kind }) => kind === "model" || kind === "regressions");
  const isAsked = payload.asked || payload.subjects.some(({ kind }) => kind === "tables" || kind === "regressions");
  /** @type {any} */
  const opened = modelled ? openModel(file) : isAsked ? await openRelease(file) : null;
  const asked = payload.asked ? opened : null;
  const stem = payload.name.replace(/\.(npz|json)$/, "");
  let [explorer, overview, reports] = [null, null, null];
  if (tabled.length) {
    const room = element("div");
    const show = (at) => {
      overview = new Overview(tabled[at], populationOf(tabled[at], opened).tables(0.95, tabled[at].known), payload.name);
      room.replaceChildren(...(tabled.length > 1 ? [selectOf("Who", tabled.map(({ name }) => name), at, (i) => { show(i); overview.start(); })] : []), overview.whole);
      if (globalThis.frostglass) globalThis.frostglass.overview = overview;
    };
    show(Math.max(0, tabled.findIndex(({ name }) => name === payload.start)));
    views.push(room);
  }
  if (pictured.length) {
    const controls = new Controls(pictured.map((facts) => decoderOf(facts, asked)), payload.start, () => explorer.update());
    if (payload.opening) controls.subjects[0].bring(...payload.opening.columns, unpackedAnswers(payload.opening));
    explorer = new Explorer(controls, payload.sharedNoise);
    views.push(controls.bar, controls.holds);
    views.push(...explorer.parts);
  }
  views.push(...(asked ? furtherViews(asked.answers === "periods" ? explorer.controls.decoder.own : asked, explorer, stem) : []));
  if (opened && !modelled && opened.answers !== "periods" && (overview || (explorer && explorer.controls.subjects.every(({ exact }) => exact)))) {
    views.push(compareView(opened, () => ({ overview, explorer, part: (overview?.facts ?? explorer.controls.decoder).part, group: overview ? "" : explorer.controls.decoder.group })));
  }
  for (const facts of payload.subjects) {
    if (facts.kind === "reports") views.push(...(reports = new Reports(facts.listed ? new LocalReports(facts.listed) : await openLocal(file), facts.ways)).parts);
    if (facts.kind === "model") views.push(...modelView(facts, opened));
    if (facts.kind === "regressions") views.push(...(facts.name ? [element("h2", {}, facts.name)] : []), ...regressionsView(facts, populationOf(facts, opened)));
  }
  const stills = [...document.querySelectorAll("figure.still")].map((figure, place) => new Still(figure, payload.stills[place]));
  if (!views.length && !stills.length) views.push(element("p", {}, "This file has no picture that a page can draw: save it below, and ask it with Frostglass."));
  place.replaceChildren(...views);
  explorer?.update();
  overview?.start();
  reports?.update();
  const asTable = overview ?? reports;
  takeAlong(payload, file, asTable ? () => asTable.csv : explorer && (() => tableOf(explorer.chart.decoder, explorer.chart.x, explorer.chart.y, explorer.chart.shown)));
  globalThis.frostglass = { explorer, overview, payload, reports, stills };
  embed(new URLSearchParams(location.search).get("embed"), overview);
  document.documentElement.dataset.ready = "true";
};

// On paper everything is as wide as a page and dark on light, also what a canvas has painted already.
for (const event of ["beforeprint", "afterprint"]) {
  addEventListener(event, () => document.documentElement.classList.toggle("printing", event === "beforeprint"));
}
/** One picture alone, for a frame in another page: "true" is the first one, else a column's name or place, "map", "pairs", "groups" or "numbers". */
const embed = (asked, overview) => {
  if (asked === null && location.hash !== "#embed") return;
  document.documentElement.classList.add("embed");
  if (!overview || !asked || asked === "true") return;
  const card = overview.cards.find(({ axis, place }) => axis.name === asked || String(place) === asked);
  overview.only = card ? `c${card.place}` : /^(map|pairs|groups|numbers)$/.test(asked) ? asked : "";
  if (overview.only) document.documentElement.classList.add("alone");
  overview.update(true, true);
};

/** Light or dark as the visitor's system has it, until somebody says otherwise. */
const themes = () => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
  const button = element("button", { type: "button", class: "plain theme", "aria-label": "Light or dark", title: "Light or dark", onclick: () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    dispatchEvent(new Event("resize")); // canvases are painted again
  } }, "◐");
  document.querySelector("main > header").append(button);
};
themes();
start().catch((problem) => {
  console.error(problem);
  document.getElementById("wait").textContent = "This browser cannot open the file that this page carries; a newer one can.";
});
