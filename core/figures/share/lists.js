// What is asked of a release besides its picture: lists that somebody pastes, made-up records, which group it is like
// somewhere, and which tops of a picture stand out from the noise.
import { element, plainTable } from "./canvas.js";
import { Chart } from "./chart.js";
import { dateWords, listed, percent, significant } from "./numbers.js";
import { csvOf, save } from "./take.js";
import { ReaderError } from "../../../readers/javascript/archive.js";

const MOST_LISTED = 2000, MOST_SHOWN = 30, MAP_SIDE = 48, SURE = 3;

/** Rows of a pasted text: cells between tabs, semicolons or commas. */
const cellsOf = (text) => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const mark = ["\t", ";", ","].find((one) => lines.some((line) => line.includes(one))) ?? "\t";
  return lines.map((line) => line.split(mark).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
};

/** Queries by column of pasted rows, which may begin with the names of columns; of sets each line is one. */
const queriesOf = (text, columns) => {
  if (columns[0].kind === "items") {
    const lines = text.split(/\r?\n/).filter((line) => line.trim());
    return { [columns[0].name]: lines.slice(0, MOST_LISTED).map((line) => line.split(/[;,\t]/).map((item) => item.trim()).filter(Boolean)) };
  }
  let rows = cellsOf(text);
  const named = columns.every(({ name }) => rows[0]?.includes(name)) ? rows[0] : null;
  rows = rows.slice(named ? 1 : 0, MOST_LISTED + 1).slice(0, MOST_LISTED);
  let next = 0;
  return Object.fromEntries(columns.map((column) => {
    const at = named ? named.indexOf(column.name) : next;
    next += column.kind === "vector" ? column.length : 1;
    return [column.name, rows.map((row) => (column.kind === "vector" ? row.slice(at, at + column.length).map(Number) : row[at] ?? ""))];
  }));
};

/** Answers to a list; of one that is refused it is said which line is. */
const answersTo = (release, queries) => {
  try {
    return release.answer(queries);
  } catch (problem) {
    const [first] = Object.values(queries);
    first.forEach((_, i) => {
      try {
        release.answer(Object.fromEntries(Object.entries(queries).map(([name, values]) => [name, [values[i]]])));
      } catch (own) {
        if (own instanceof ReaderError) throw new ReaderError(`Line ${i + 1} of the list: ${own.message}`);
      }
    });
    throw problem;
  }
};

/** A field for a list, and what is said of each line: how much is close to it, or how far all are. */
export const listView = (release, stem, alone) => {
  const columns = release.sketch.domain.asked;
  const near = release.sketch.answers === "closeness";
  const input = element("textarea", { id: "list", rows: 5, spellcheck: "false" });
  const said = element("p", { class: "note", role: "status" });
  const found = element("div");
  const names = listed(columns.map(({ name, kind, length }) => (kind === "vector" ? `${length} numbers of ${name}` : name)));
  const ask = () => {
    try {
      const queries = queriesOf(input.value, columns);
      const answers = answersTo(release, queries);
      const count = answers.estimate.length;
      if (!count) throw new ReaderError("There is nothing in the list.");
      const factor = near ? 1 : 1 / release.records;
      const line = (i) => [...columns.map(({ name }) => [queries[name][i]].flat().join(" ")),
        answers.estimate[i] * factor, answers.low[i] * factor, answers.high[i] * factor, ...(near ? [answers.low[i] <= 0 ? "yes" : "no"] : [])];
      const heads = [...columns.map(({ name }) => name), near ? "close by" : "average distance", "low", "high", ...(near ? ["may be alone"] : [])];
      const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => (near ? 1 : -1) * (answers.estimate[a] - answers.estimate[b]));
      const rows = order.map(line);
      const hidden = near ? answers.low.filter((low) => low <= 0).length : 0;
      said.textContent = near ? `${hidden} of ${count} are where the noise hides whether anyone is. The most unusual come first.` : `${count} places; the farthest come first.`;
      const words = (value) => (typeof value === "number" ? significant(value, 3) : String(value));
      found.replaceChildren(plainTable("Answers to the list", heads, rows.slice(0, MOST_SHOWN).map((row) => row.map(words))),
        element("button", { type: "button", onclick: () => save(`${stem}-answers.csv`, "text/csv", csvOf(heads, rows)) }, "All answers (CSV)"));
    } catch (problem) {
      said.textContent = problem instanceof ReaderError ? problem.message : "The list cannot be read.";
      found.replaceChildren();
    }
  };
  return element("details", { class: "list", open: alone }, element("summary", {}, near ? "Ask a list: how unusual is each line?" : "Ask a list"),
    element("p", {}, element("label", { for: "list" }, columns[0].kind === "items" ? "One set a line, items between commas." : `A line each with ${names}. It stays on this page.`)),
    input, element("p", {}, element("button", { type: "button", onclick: ask }, "Ask")), said, found);
};

/** Made-up records of a picture's columns as a file. */
export const samplesButton = (controls, stem) => element("button", { type: "button", onclick: () => {
  const { decoder } = controls;
  const rows = decoder.drawn().map((record) => record.map((value, place) => decoder.valueOf(place, value)));
  const dated = rows.map((row) => row.map((value, place) => (decoder.columns[place].kind === "date" ? dateWords(decoder.columns[place], value) : value)));
  save(`${stem}-made-up.csv`, "text/csv", csvOf(decoder.columns.map(({ name }) => name), dated));
} }, "Made-up records like these (CSV)");

/** Red, green and blue of one of so many groups, evenly around the circle of hues. */
const groupColour = (place, count) => [0, 8, 4].map((turn) => {
  const k = (turn + (12 * place) / count) % 12;
  return Math.round(255 * (0.5 - 0.225 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
});

/** Which of several groups is the closest at each place of the picture, and whether the noise leaves that open. */
export const groupsView = (groups, controls) => {
  const canvas = element("canvas", { role: "img" });
  const legend = element("ul", { class: "facts" });
  const chart = new Chart(canvas);
  const sign = groups[0].answers === "distance" ? -1 : 1;
  const picture = (x, y, window, places, held) => {
    const shown = groups.map((group) => group.picture(x, y, window, places.map((one) => Math.min(one, MAP_SIDE)), held));
    const best = Array.from(shown[0].est, (_, i) => {
      const order = shown.map((one, k) => [sign * one.est[i], one.error[i], k]).sort((a, b) => b[0] - a[0]);
      return { group: order[0][2], sure: order[0][0] - order[1][0] > SURE * Math.hypot(order[0][1], order[1][1]) };
    });
    return { ...shown[0], low: null, high: null, best, colourOf: (i) => [...groupColour(best[i].group, groups.length), best[i].sure ? 255 : 70] };
  };
  const decided = { ...groups[0], columns: groups[0].columns, exact: false, answers: "groups", picture };
  const show = () => {
    const { x, y, held } = controls;
    chart.show(Object.assign(decided, { chosen: groups.map(({ chosen }) => chosen).join() }), x, y, { ...held });
    if (!chart.shown) return;
    const { best } = chart.shown;
    legend.replaceChildren(...groups.map(({ group }, k) => {
      const share = best.filter((one) => one.group === k && one.sure).length / best.length;
      const chip = element("canvas", { width: 12, height: 12, "aria-hidden": "true" });
      const pen = chip.getContext("2d");
      pen.fillStyle = `rgb(${groupColour(k, groups.length).join(" ")})`;
      pen.fillRect(0, 0, 12, 12);
      return element("li", {}, chip, ` ${group}: surely the closest on ${percent(share)} of the picture`);
    }));
    canvas.setAttribute("aria-label", `Which group is the closest. ${legend.textContent}`);
  };
  const view = element("details", { class: "list", ontoggle: () => view.open && show() },
    element("summary", {}, "Which group is it like here?"), element("div", { class: "canvas" }, canvas), legend,
    element("p", { class: "note" }, "Pale where the noise leaves open which group it is. The group with most records close by is shown, so large groups win more often."));
  return Object.assign(view, { show: () => view.open && show() });
};

const AROUND = [[-1, 0], [1, 0], [0, -1], [0, 1], [-1, -1], [1, 1], [-1, 1], [1, -1]];

/** Places of a picture that are higher than all paths to a higher one by more than noise makes any, all places together. */
const topsOf = (shown, { together = 4, noise }) => {
  if (shown.low === null || !shown.error) return [];
  const [height, width] = shown.shape.length > 1 ? shown.shape : [1, shown.shape[0]];
  const owner = new Int32Array(shown.est.length).fill(-1);
  const root = (i) => (owner[i] === i ? i : (owner[i] = root(owner[i])));
  const found = [];
  const judge = (top, saddle) => {
    const known = (i) => (i < 0 ? 0 : Math.min(shown.error[i], noise ?? Infinity));
    const rise = shown.est[top] - (saddle < 0 ? 0 : Math.max(0, shown.est[saddle]));
    if (rise > together * Math.hypot(known(top), known(saddle))) found.push(top);
  };
  const order = Array.from(shown.est.keys()).sort((a, b) => shown.est[b] - shown.est[a]);
  for (const i of order) {
    owner[i] = i;
    for (const [dx, dy] of AROUND) {
      const [column, row] = [(i % width) + dx, Math.floor(i / width) + dy];
      const other = row * width + column;
      if (column < 0 || column >= width || row < 0 || row >= height || owner[other] < 0) continue;
      const [one, two] = [root(i), root(other)];
      if (one === two) continue;
      const [higher, lower] = shown.est[one] >= shown.est[two] ? [one, two] : [two, one];
      if (lower !== i) judge(lower, i); // two hills meet here
      owner[lower] = higher;
    }
  }
  if (order.length) judge(root(order[0]), -1);
  return found.map((i) => [i % width, Math.floor(i / width)]);
};

/** Rings around the tops of a picture that stand out; how many there are. */
export const markTops = (chart) => {
  const { shown, decoder, across, up } = chart;
  if (decoder.answers !== "closeness" || across.kind === "category" || up?.kind === "category") return 0;
  const tops = shown.tops ??= topsOf(shown, decoder); // it is drawn again at every touch
  const pen = chart.canvas.getContext("2d");
  const [width, height] = [shown.shape[shown.shape.length - 1], shown.shape[0]];
  pen.strokeStyle = chart.colours.amber;
  pen.lineWidth = 1.8;
  const { width: wide, height: high } = chart.plot;
  const ring = Math.min(9, wide / 60, Math.sqrt((0.006 * wide * high) / tops.length)); // many, or on a phone, would cover what they ring
  for (const [i, j] of tops) {
    const x = up ? shown.rect[0][0] + ((i + 0.5) * (shown.rect[0][1] - shown.rect[0][0])) / width : shown.values[i];
    const y = up ? shown.rect[1][0] + ((j + 0.5) * (shown.rect[1][1] - shown.rect[1][0])) / height : shown.est[i];
    pen.beginPath();
    pen.arc(chart.toPixels(x, "x"), chart.toPixels(y, "y"), ring, 0, 2 * Math.PI);
    pen.stroke();
  }
  return tops.length;
};
