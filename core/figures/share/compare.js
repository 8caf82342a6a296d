// Another file beside this one, dropped on the page or chosen: what they differ by, with the noise of both in every band.
import { element, plainTable } from "./canvas.js";
import { Chart, extremes, legendOf } from "./chart.js";
import { Live } from "./live.js";
import { digitsOf, listed, percent, rounded, roundedRange, shareMarks, stretchWords, titleOf, valueWords } from "./numbers.js";
import { bandRows } from "./pictures.js";
import { ReaderError } from "../../../readers/javascript/archive.js";
import { Comparison } from "../../../readers/javascript/compared.js";
import { openRelease } from "../../../readers/javascript/release.js";

const MOST_BESIDE = 64 << 20, MOST_CELLS_BESIDE = 12, REACH = 3.92;

/** The difference of two populations as something that a picture is drawn of. */
class Difference extends Live {
  compared;

  constructor(live, compared) {
    super(live, live.own);
    Object.assign(this, { compared, answers: "difference",
      measured: live.answers === "distance" ? "difference of average distances" : "difference in what is close by, as a share of all" });
  }

  get release() {
    const across = (drawn, held, places) => {
      const { est, low, high, error } = this.compared.across(drawn, held, places);
      return { estimate: est, low, high, standardError: error };
    };
    return /** @type {any} */ ({ sketch: this.compared.both[0].sketch, across });
  }
}

const isMore = ({ low, high }, i) => low[i] > 0 || high[i] < 0;
const pointsWords = (est, low, high) => {
  const error = Math.max((100 * (high - low)) / REACH, 1e-6);
  const words = rounded(100 * est, error);
  return est > 0 && /[1-9]/.test(words) ? `+${words}` : words;
};

/** One column of both tables: by how many percent points the share of each cell differs, those that differ most first. */
const columnOf = (axis, found, mean) => {
  const said = (cell) => stretchWords(axis, cell, cell);
  const cells = Array.from({ length: axis.cells }, (_, cell) => cell);
  const apart = (cell) => Math.abs(found.est[cell]) / (found.error[cell] || 1e-300);
  const shown = [...cells].sort((a, b) => apart(b) - apart(a)).slice(0, MOST_CELLS_BESIDE).sort((a, b) => a - b);
  const more = cells.filter((cell) => isMore(found, cell));
  const ends = (cell) => roundedRange(100 * found.low[cell], 100 * found.high[cell], Math.max((100 * (found.high[cell] - found.low[cell])) / REACH, 1e-6));
  const sentences = [more.length ? `More than noise alone may make: ${listed(more.slice(0, 3).map(said))}${more.length > 3 ? ` and ${more.length - 3} more` : ""}.` : "Noise alone may make all differences."];
  if (mean && Number.isFinite(mean.est[0])) {
    const error = (mean.high[0] - mean.low[0]) / REACH;
    const [least, most] = roundedRange(mean.low[0], mean.high[0], error);
    sentences.push(`Mean ${valueWords(axis, mean.one.est[0], error)} here and ${valueWords(axis, mean.other.est[0], error)} there: ${digitsOf(mean.est[0], error, Math.round)} (${least} to ${most}).`);
  }
  const [low, high] = [Math.min(0, ...shown.map((cell) => found.low[cell])), Math.max(0, ...shown.map((cell) => found.high[cell]))];
  const rows = shown.map((cell) => ({ name: said(cell), est: found.est[cell], low: found.low[cell], high: found.high[cell], value: pointsWords(found.est[cell], found.low[cell], found.high[cell]) }));
  const place = element("div", { class: "picture groups" });
  const share = ({ est }, cell) => percent(Math.max(0, est[cell]));
  const table = element("details", { class: "behind" }, element("summary", {}, "Table"), plainTable(`Difference in ${axis.name}`, [axis.name, "This file", "The other", "Difference in points"],
    cells.map((cell) => [said(cell), share(found.one, cell), share(found.other, cell), `${pointsWords(found.est[cell], found.low[cell], found.high[cell])} (${ends(cell).join(" to ")})`])));
  const card = element("article", { class: "card" }, element("h3", {}, titleOf(axis)), element("p", { class: "says" }, sentences.join(" ")), place, table);
  return { card, draw: () => place.clientWidth && place.replaceChildren(bandRows(place.clientWidth, rows, low, high, (count) => shareMarks(low, high, count, ""))) };
};

const ofTables = (compared, overview) => {
  const { axes, tables } = overview;
  const columns = axes.map((axis, place) => [axis, place]).filter(([, place]) => tables.measured([place])).map(([axis, place]) =>
    columnOf(axis, compared.table([place]), axis.kind === "number" ? compared.mean(place) : null));
  return { parts: [element("p", {}, "Shares of all in percent points, this file less the other; each band has the noise of both."),
    element("div", { class: "cards" }, ...columns.map(({ card }) => card))], draw: () => columns.forEach(({ draw }) => draw()) };
};

/** The other file's picture, and the difference, of the columns that are looked at. */
const ofPictures = (compared, explorer, other) => {
  const live = explorer.controls.decoder;
  const charts = [[new Live({ ...live, read: [], chosen: 0, readings: [] }, other), "The other file"], [new Difference(live, compared), "This file less the other"]].map(([decoder, title]) => {
    const canvas = element("canvas", { role: "img", "aria-label": String(title) });
    const legend = element("div", { class: "legend" });
    const chart = new Chart(canvas);
    canvas.addEventListener("drawn", () => legend.replaceChildren(...legendOf(chart)));
    return { decoder, chart, figure: element("figure", {}, element("h3", {}, title), element("div", { class: "canvas" }, canvas), legend) };
  });
  const said = element("p", { class: "says", role: "status" });
  const draw = () => {
    const { x, y, held } = explorer.controls;
    if (explorer.controls.decoder !== live) said.textContent = "Choose the other file once more to compare this group or question.";
    if (explorer.controls.decoder !== live) return;
    for (const { chart, decoder } of charts) chart.show(decoder, x, y, { ...held });
    const { shown } = charts[1].chart;
    if (!shown?.low) return;
    const told = shown.est.reduce((sum, _, i) => sum + Number(isMore(shown, i)), 0) / shown.est.length;
    const [least, most] = extremes(shown.est);
    said.textContent = told ? `On ${percent(told)} of the picture the difference is more than noise alone may make${least < 0 && most > 0 ? "" : most > 0 ? ", and this file has more" : ", and the other has more"}.`
      : "Nowhere on the picture is the difference more than noise alone may make.";
  };
  return { parts: [said, element("div", { class: "side-by-side" }, ...charts.map(({ figure }) => figure))], draw };
};

/** A field for another file; `looked` says which question and group are looked at, and by what. */
export const compareView = (release, looked) => {
  const status = element("p", { class: "note", role: "status" });
  const room = element("div", { class: "compared" });
  const input = element("input", { type: "file", id: "other", accept: ".npz", onchange: () => input.files.length && take(input.files[0]) });
  let draw = null;
  const take = async (file) => {
    view.open = true;
    draw = null;
    room.replaceChildren();
    try {
      if (file.size > MOST_BESIDE) throw new ReaderError("The other file is larger than a page can hold.");
      const { part, group, overview, explorer } = looked();
      const of = (whole) => {
        const one = part && Object.keys(whole.parts).length ? whole.part(part) : whole;
        return group ? one.ofClass(group) : one;
      };
      const { readings, chosen } = explorer?.controls.decoder ?? {};
      const bandwidth = readings?.[chosen]?.bandwidth;
      const [mine, other] = [of(release), of(await openRelease(new Uint8Array(await file.arrayBuffer())))].map((one) => (bandwidth && one.sketch.smoothed ? one.smoothed(bandwidth) : one));
      const compared = new Comparison(mine, other);
      const made = overview ? ofTables(compared, overview) : ofPictures(compared, explorer, other);
      status.textContent = `Beside ${file.name}. Of a hundred places without a difference, about five look like one all the same.`;
      room.replaceChildren(...made.parts);
      draw = made.draw;
      draw();
    } catch (problem) {
      if (!(problem instanceof ReaderError)) console.error(problem);
      status.textContent = problem instanceof ReaderError ? problem.message : "The other file cannot be read.";
    }
  };
  const view = element("details", { class: "list beside", ontoggle: () => draw?.() }, element("summary", {}, "Compare with another file"),
    element("p", {}, element("label", { for: "other" }, "A release of the same question: choose it, or drop it anywhere on the page. It stays here.")), element("p", {}, input), status, room);
  looked().explorer?.canvas.addEventListener("drawn", () => draw?.());
  addEventListener("resize", () => draw?.());
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer?.files.length) take(event.dataTransfer.files[0]).then(() => view.scrollIntoView({ block: "nearest" }));
  });
  return view;
};
