// A picture that is asked: what is chosen above it, its tools, and the point or box that is asked beside it, in words.
import { AskedChart } from "./asked_chart.js";
import { populationOf } from "./bytes.js";
import { element, put, selectOf } from "./canvas.js";
import { extremes, legendOf, unitOf } from "./chart.js";
import { Lattice } from "./lattice.js";
import { markTops } from "./lists.js";
import { Live } from "./live.js";
import { dateNumber, dateWords, endsOf, listed, nearest, percent, placeWords, rounded, roundedRange, significant, titleOf, withUnit } from "./numbers.js";
import { placeOfAmount } from "../../../readers/javascript/columns.js";

/** What a population is asked by: the reader, or pictures that were worked out beforehand. */
export const decoderOf = (facts, release) => (facts.kind === "live" ? new Live(facts, populationOf(facts, release)) : new Lattice(facts));

/** An answer at a point in words. */
const pointWords = (decoder, { estimate, low, high, error }) => {
  const { answers, unit } = decoder;
  const about = `About ${rounded(estimate, error)}`;
  const ends = Number.isFinite(error) ? roundedRange(low, high, error) : null;
  const between = ends ? `very likely between ${ends[0]} and ${ends[1]}.` : "how far off that is nobody knows.";
  if (answers === "distance") return `${withUnit(about, unit)} away on average; ${between}`;
  if (ends && low <= 0) return `The noise hides whether anyone is here: very likely fewer than ${ends[1]} ${unitOf(decoder)}.`;
  return `${about} ${unitOf(decoder)}; ${between}`;
};

/** How many are in a box, in words. */
const boxWords = (decoder, { estimate, low, high, error, most, blurred }) => {
  const { counted } = decoder;
  if (!Number.isFinite(error)) return `About ${significant(estimate, 2)} ${counted} in here; how far off that is nobody knows.`;
  const [least, greatest] = roundedRange(Math.max(0, low), high, error);
  if (low <= 0) return `The noise hides whether anyone is in here: very likely fewer than ${greatest} ${counted}.`;
  const reach = (high - low) / 2;
  const said = `About ${rounded(estimate, error)} ± ${rounded(reach, error)} ${counted} in here: very likely between ${least} and ${greatest}.`;
  if (blurred) return `${said} Closeness blurs the edges of the box, and errors are added up as if all went the same way.`;
  return most ? `${said} Errors are added up as if all went the same way, so it may be closer.` : said;
};

/** The fields above a picture: who, columns, bandwidth, columns held at a value. */
export class Controls {
  changed; subjects;

  constructor(subjects, start, changed) {
    Object.assign(this, { subjects, changed, held: {} });
    this.bar = element("div", { class: "fields controls" });
    this.holds = element("div", { class: "fields controls" });
    this.choose(Math.max(0, subjects.findIndex(({ name }) => name === start)));
  }

  /** A map begins as one: longitudes across. */
  choose(place, x = this.subjects[place].outline?.columns[0] ?? 0, y = this.subjects[place].outline?.columns[1] ?? null) {
    this.decoder = this.subjects[place];
    this.place = place;
    const columns = this.decoder.columns;
    this.x = x;
    const partners = columns.map((_, other) => other).filter((other) => other !== x && this.decoder.offers(x, other));
    this.partners = partners;
    this.y = partners.includes(y) ? y : partners.length ? partners[0] : null;
    if (!this.decoder.offers(x, null) && this.y === null) this.x = columns.findIndex((_, one) => this.decoder.offers(one, null));
    this.held = {};
    this.fill();
  }

  fill() {
    const { decoder } = this;
    const fields = [];
    if (this.subjects.length > 1) {
      fields.push(selectOf("Who", this.subjects.map(({ name }) => name), this.place, (value) => {
        this.choose(value, Math.min(this.x, this.subjects[value].columns.length - 1), this.y);
        this.changed();
      }, "choose-who"));
    }
    const names = decoder.columns.map(({ name }) => name);
    if (names.length > 1) {
      fields.push(selectOf("Across", names, this.x, (value) => { this.choose(this.place, value, this.y === value ? this.x : this.y); this.changed(); }, "choose-across"));
      const offered = [...(decoder.offers(this.x, null) ? [null] : []), ...this.partners];
      const said = offered.map((place) => (place === null ? "alone" : names[place]));
      fields.push(selectOf("Up", said, offered.indexOf(this.y), (value) => { this.y = offered[value]; this.held = {}; this.fill(); this.changed(); }, "choose-up"));
    }
    if (decoder.readings?.length > 1) fields.push(this.bandwidth());
    this.bar.replaceChildren(...fields);
    this.fillHolds();
  }

  bandwidth() {
    const { decoder } = this;
    const said = element("output", { for: "choose-bandwidth" }, decoder.reading.words);
    const slider = element("input", { id: "choose-bandwidth", type: "range", min: 0, max: decoder.readings.length - 1, step: 1, value: decoder.chosen,
      "aria-valuetext": decoder.reading.words,
      oninput: (event) => {
        decoder.chosen = Number(event.target.value);
        said.textContent = decoder.reading.words;
        slider.setAttribute("aria-valuetext", decoder.reading.words);
        this.changed();
      } });
    return element("div", {}, element("label", { for: "choose-bandwidth" }, "How closely to look"), element("div", { class: "slid" }, slider, said));
  }

  /** Columns that are not drawn may be held at a value where the page decodes the counters itself. */
  fillHolds() {
    const { decoder } = this;
    const others = decoder.exact ? decoder.columns.map((_, place) => place).filter((place) => place !== this.x && place !== this.y) : [];
    this.holds.replaceChildren(...others.map((place) => this.hold(place)));
  }

  hold(place) {
    const column = this.decoder.columns[place];
    const id = `hold-${place}`;
    if (column.kind === "category") {
      return selectOf(column.name, ["all, averaged", ...column.categories], 0, (value) => this.keep(place, value - 1), id);
    }
    const said = element("output", { for: id }, "all, averaged");
    const slider = element("input", { id, type: "range", min: -1, max: 100, step: 1, value: -1, "aria-valuetext": "all, averaged",
      oninput: (event) => {
        const share = Number(event.target.value);
        const value = column.low + (share / 100) * (column.high - column.low);
        said.textContent = share < 0 ? "all, averaged" : placeWords(column, value);
        slider.setAttribute("aria-valuetext", said.textContent);
        this.keep(place, share < 0 ? -1 : value, share < 0);
      } });
    return element("div", {}, element("label", { for: id }, `${column.name} held at`), element("div", { class: "slid" }, slider, said));
  }

  keep(place, value, free = value < 0) {
    if (free) delete this.held[place];
    else this.held[place] = value;
    this.changed();
  }
}

/** The picture with its tools, and beside it the point or box that is asked. */
export class Explorer {
  answered; first; told;

  /**
   * `controls` say what is drawn: the `decoder`, the places of the columns `x` and `y`, and what is `held`. What a
   * visitor asks is `told`, in coordinates of the picture. `signal` ends the listening to the window.
   * @param {{decoder: any, x: number, y: number | null, held: Record<number, number>, subjects?: any[]}} controls
   * @param {string} sharedNoise
   * @param {AbortSignal} [signal]
   */
  constructor(controls, sharedNoise, signal) {
    this.canvas = element("canvas", { id: "picture", tabindex: "0", role: "application", "aria-describedby": "keys" });
    this.answer = element("p", { class: "odds", id: "answer", role: "status" });
    this.where = element("p", { class: "note", id: "where" });
    this.title = element("h2", { id: "shown" });
    this.note = element("p", { class: "note", id: "resolution" });
    this.legend = element("div", { class: "legend" });
    this.fields = element("form", { class: "fields asked", onsubmit: (event) => { event.preventDefault(); this.askTyped(); } });
    this.controls = controls;
    this.chart = new AskedChart(this.canvas, { onPoint: (point) => this.ask(point), onBox: (box) => this.count(box) }, signal);
    this.canvas.addEventListener("drawn", () => this.explain());
    // What somebody is about to type stays.
    this.canvas.addEventListener("finer", () => this.chart.point && this.chart.point === this.first && !this.fields.matches(":focus-within") && this.askFirst());
    const keys = element("p", { class: "note", id: "keys" }, element("span", { class: "by-touch" }, "Tap a place, or choose Box and drag around some; two fingers zoom. "),
      element("span", { class: "by-mouse" }, "Click a place, or drag a box around some. With keys: arrows move the point, Shift and arrows draw a box, + and − zoom, 0 shows all."));
    this.parts = [element("div", { class: "split" },
        element("figure", { "aria-labelledby": "shown" }, this.title, this.tools(), element("div", { class: "canvas" }, this.canvas), this.legend, this.note),
        element("section", { class: "aside", "aria-labelledby": "ask-heading" }, element("h2", { id: "ask-heading" }, "Ask"), this.answer, this.where, this.fields, keys,
          element("p", { class: "note" }, sharedNoise)))];
    this.chart.use("point");
  }

  tools() {
    const tools = { point: "Point", box: "Box", move: "Move" };
    const buttons = Object.entries(tools).map(([tool, label]) => element("button", { type: "button", "aria-pressed": String(tool === "point"), "data-tool": tool,
      onclick: () => {
        this.chart.use(tool);
        buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.tool === tool)));
      } }, label));
    const zooms = [["+", "Zoom in", () => this.chart.zoom(1 / 1.6)], ["−", "Zoom out", () => this.chart.zoom(1.6)],
      ["All", "Show all", () => { this.chart.home(); this.chart.draw(); }]];
    return element("div", { class: "tools", role: "group", "aria-label": "What a drag on the picture does" }, ...buttons, element("span", { class: "gap" }),
      ...zooms.map(([label, title, act]) => element("button", { type: "button", "aria-label": title, title, onclick: act }, label)));
  }

  /** Show what was chosen, and ask what is asked; where other columns are drawn, where most is. Nobody has to be told. */
  update() {
    const { decoder, x, y, held } = this.controls;
    if (!this.chart.prepare(decoder, x, y, held)) return;
    const { box, point } = this.chart;
    if (!box && !point) {
      this.fillFields();
      this.askFirst(); // which draws it
      return;
    }
    this.quietly(() => (box ? this.count(box) : this.ask(point)));
    this.chart.draw();
  }

  /** What is asked before anybody does, again where a finer picture came, which has the answer. */
  askFirst() {
    this.first = this.peak();
    this.answered = this.found();
    this.quietly(() => this.chart.ask(this.first));
    this.answered = null;
  }

  quietly(act) {
    const { told } = this;
    this.told = null;
    act();
    this.told = told;
  }

  /** Where most is on the picture, or everyone is nearest. */
  get top() {
    const { shown, decoder } = this.chart;
    const ends = extremes(shown.est);
    return shown.est.indexOf(decoder.answers === "distance" ? ends[0] : ends[1]);
  }

  /** What was answered there when the picture was. */
  found() {
    const { shown: { est, low, high, error }, decoder: { reach } } = this.chart;
    const at = this.top;
    if (low === null) return { estimate: est[at], low: NaN, high: NaN, error: Infinity };
    return { estimate: est[at], low: low[at], high: high[at], error: error?.[at] ?? (high[at] - low[at]) / 2 / reach };
  }

  peak() {
    const { shown } = this.chart;
    const at = this.top;
    const width = shown.shape[shown.shape.length - 1];
    if (shown.shape.length === 1) return { x: shown.values[at], y: null };
    const place = (side, index, count) => shown.rect[side][0] + ((index + 0.5) * (shown.rect[side][1] - shown.rect[side][0])) / count;
    return { x: place(0, at % width, width), y: place(1, Math.floor(at / width), shown.shape[0]) };
  }

  ask(point) {
    const { decoder, x, y, held } = this.controls;
    const at = { ...held, [x]: point.x, ...(y === null ? {} : { [y]: point.y }) };
    this.answer.textContent = pointWords(decoder, this.answered ?? decoder.ask(at, held, x, y));
    put(this.where, `At ${this.placed(point)}.`);
    this.typed(point);
    this.told?.(y === null ? [point.x] : [point.x, point.y]);
  }

  count(box) {
    const { decoder, x, y } = this.controls;
    const found = decoder.box({ [x]: box.x, ...(y === null ? {} : { [y]: box.y }) }, x, y);
    this.answer.textContent = found ? boxWords(decoder, found) : "Of distances nobody is counted: ask a point.";
    const side = (column, ends) => column.kind === "category"
      ? `${column.name} ${column.categories.slice(Math.round(ends[0] + 0.5), Math.round(ends[1] + 0.5)).join(", ")}`
      : `${column.name} ${placeWords(column, ends[0])} to ${placeWords(column, ends[1])}`;
    const sides = [side(decoder.columns[x], box.x), ...(y === null ? [] : [side(decoder.columns[y], box.y)])];
    put(this.where, `In ${listed(sides)}${decoder.columns.length > sides.length ? ", whatever the other columns" : ""}.`);
  }

  placed(point) {
    const { decoder, x, y } = this.controls;
    const words = [[x, point.x], ...(y === null ? [] : [[y, point.y]])];
    return listed(words.map(([place, value]) => `${decoder.columns[place].name} ${placeWords(decoder.columns[place], value)}`));
  }

  /** Fields in which a point is typed. */
  fillFields() {
    const { decoder, x, y } = this.controls;
    this.inputs = [x, ...(y === null ? [] : [y])].map((place, side) => {
      const column = decoder.columns[place];
      const id = `point-${side}`;
      const input = column.kind === "category"
        ? element("select", { id, onchange: () => this.askTyped() }, ...column.categories.map((name, i) => element("option", { value: i }, name)))
        : element("input", { id, type: "text", inputmode: column.kind === "date" ? "text" : "decimal", autocomplete: "off", onchange: () => this.askTyped() });
      return { side: side ? "y" : "x", column, input, row: element("div", {}, element("label", { for: id }, titleOf(column)), input) };
    });
    this.fields.replaceChildren(...this.inputs.map(({ row }) => row));
  }

  typed(point) {
    for (const { side, column, input } of this.inputs) {
      if (column.kind === "category") input.value = String(nearest(column, point[side]));
      else if (column.kind === "date") input.value = dateWords(column, point[side]);
      else input.value = placeWords({ ...column, unit: "" }, point[side]).replaceAll(",", "").replace("−", "-");
    }
  }

  askTyped() {
    const point = { x: null, y: null };
    for (const { side, column, input } of this.inputs) {
      const number = Number(input.value.replace(",", "."));
      const [low, high] = endsOf(column);
      const value = column.kind === "date" ? dateNumber(column, input.value) : column.kind === "amount" ? placeOfAmount(column, number) : column.turns ? number - 360 * Math.round((number - (low + high) / 2) / 360) : number;
      if (!Number.isFinite(value) || input.value === "") {
        this.answer.textContent = `${column.name} must be ${column.kind === "date" ? "a date such as 2024-12-31" : "a number"}.`;
        return;
      }
      point[side] = Math.min(Math.max(value, low), high);
    }
    this.chart.ask(point);
  }

  /** What the picture is, for those who see it and those who do not. */
  explain() {
    const { decoder, x, y, held } = this.controls;
    const { shown } = this.chart;
    const columns = decoder.columns;
    const what = decoder.answers === "distance" ? "Average distance" : "Density";
    const over = listed([columns[x].name, ...(y === null ? [] : [columns[y].name])]);
    const who = decoder.name ? ` (${decoder.name})` : "";
    put(this.title, `${what} over ${over}${who}`);
    this.canvas.setAttribute("aria-label", `${what} over ${over}. ${this.answer.textContent}`);
    const sentences = [];
    if (shown.low !== null && decoder.answers !== "distance") {
      const hidden = shown.low.reduce((sum, value) => sum + (value <= 0), 0) / shown.low.length;
      sentences.push(`The noise hides ${hidden ? percent(hidden) : "none"} of the picture.`);
    }
    const kept = Object.entries(held).map(([place, value]) => `${columns[place].name} at ${placeWords(columns[place], value)}`);
    if (kept.length) sentences.push(`Held: ${listed(kept)}.`);
    if (decoder.exact) sentences.push("Worked out here from the released counts, wherever you look.");
    else sentences.push(`Drawn beforehand on ${[...shown.shape].reverse().join(" × ")} places, and read along straight lines between them; anything else is asked of the file with Frostglass.`);
    const others = columns.filter(({ name }, place) => place !== x && place !== y && !(place in held) && !(decoder.marks && name in decoder.nearest));
    if (decoder.answers === "closeness" && others.length) sentences.push(`Averaged over all values of ${listed(others.map(({ name }) => name))}, likely or not.`);
    if (decoder.answers === "distance" && others.length) sentences.push("Other columns are where everyone is nearest.");
    const tops = decoder.exact && !decoder.marks ? markTops(this.chart) : 0; // unless others say where they are
    if (tops) sentences.push(`${tops === 1 ? "One peak stands" : `${tops} peaks stand`} out from the noise, ringed.`);
    put(this.note, sentences.join(" "));
    this.legend.replaceChildren(...legendOf(this.chart));
  }
}
