// A whole table at a glance: a picture a column, and whatever is touched in one is answered by all others at once.
import { SHADES, element, isolated, plainTable, put, selectOf } from "./canvas.js";
import { bandWords, endsWords, groupsApart, halfWords, leadOf, listed, mostOf, onEarth, rivalsOf, roundMarks, rounded, roundedRange, shareDigits, shareMarks, shareWords, significant, stretchWords, strongestPair, titleOf, valueWords } from "./numbers.js";
import { CellPicture, LEVELS, MOST_ROWS, Picture, bandAt, bandRows, drawing, hatchPattern, rectangle, roundedUp } from "./pictures.js";
import { csvOf, save } from "./take.js";
import { total } from "../../../readers/javascript/arrays.js";
import { strongestFirst } from "../../../readers/javascript/tables.js";
/** @import { Tables } from "../../../readers/javascript/tables.js" */

const FINDER = 13, MOST_GROUPS = 24, MATRIX = 13;
const ROOM = 8, SPOKEN = 2; // Milliseconds of a frame for pictures that follow a drag; cards whose words follow in one.
const capital = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** One column: its sentence, its picture, its numbers, and a table behind them. */
class Card {
  axis; everyone; found; inside; kind; overview; part; place; seen; stale;

  constructor(overview, place) {
    const axis = overview.axes[place];
    Object.assign(this, { overview, place, axis, stale: true, seen: false });
    this.picture = new Picture(axis, {
      picked: (cells, done) => overview.pickCells(place, cells, done),
      tip: (cell) => this.tip(cell),
      said: (words) => overview.say(words),
    });
    this.title = element("h3", { id: `column-${place}` }, axis.name, ...(axis.unit ? [element("span", { class: "unit" }, ` ${axis.unit}`)] : []));
    this.sentence = element("p", { class: "says" });
    this.facts = element("p", { class: "numbers" });
    this.reason = element("p", { class: "reason", hidden: true });
    this.more = element("button", { type: "button", class: "plain", hidden: true, onclick: () => {
      this.picture.unfolded = !this.picture.unfolded;
      Object.assign(this.picture, { everyone: null, width: 0 });
      this.draw();
    } });
    this.table = element("details", { class: "behind", ontoggle: () => this.fillTable() }, element("summary", {}, "Table"));
    const enlarge = element("button", { type: "button", class: "plain", "aria-label": `Enlarge ${axis.name}`, title: "Enlarge", onclick: () => overview.enlarge(`c${place}`) }, "⤢");
    this.whole = element("article", { class: "card", "data-view": `c${place}`, "aria-labelledby": this.title.id }, element("header", {}, this.title, enlarge), this.sentence, this.picture.place, this.reason, this.more, this.facts, this.table);
  }

  /** Shares of a part, and whether they were measured, are guessed or unknown. */
  answer() {
    const { overview, place } = this;
    this.everyone ??= overview.ofEveryone([place]);
    const part = overview.others([place]);
    return { ...overview.answer([place], part), part };
  }

  draw(quick = false) {
    const { overview, axis, picture } = this;
    const { found, kind, part } = this.answer();
    picture.chosen = overview.picked.get(this.place) ?? [];
    picture.draw(this.everyone, kind === "unknown" ? null : found, kind);
    Object.assign(this, { found, kind, part, stale: false });
    this.whole.classList.toggle("unknown", kind === "unknown");
    this.reason.hidden = kind !== "unknown" && kind !== "guess";
    overview.explain(this.reason, kind, part.places, "Grey is everyone. ");
    overview.unsaid.add(this);
    if (quick) return;
    this.speak();
    const folded = picture.rows && axis.cells > MOST_ROWS + 2;
    this.more.hidden = !folded;
    if (folded) this.more.textContent = picture.unfolded ? "Fewer" : `All ${axis.cells}`;
    picture.place.setAttribute("aria-label", `${axis.name}: ${this.sentence.textContent} Arrow keys go through the bars, Space picks one.`);
    this.fillTable();
  }

  speak() {
    this.overview.unsaid.delete(this);
    this.picture.write();
    put(this.sentence, this.says());
    put(this.facts, this.said);
  }

  /** The answer first, in a sentence. */
  says() {
    const { axis, found, kind, overview, part, place } = this;
    this.said = "";
    if (kind === "unknown") return "";
    if (Number.isNaN(found.est[0])) return "Too few people are left to be told from none.";
    if (axis.kind === "category" || kind === "guess") return this.mostly();
    if (axis.kind === "date") {
      this.said = `Half are before ${endsWords(axis, overview.tables.quantile(place, 0.5, part.weights))[0]}`;
      return this.mostly();
    }
    const numbers = overview.numbersOf(place, part.weights);
    if (Number.isFinite(numbers.mean.est)) this.said = `Mean ${bandWords(axis, numbers.mean)}\nMedian ${bandWords(axis, numbers.quartiles[1], true)}`;
    return halfWords(axis, numbers, kind === "everyone" ? null : overview.numbersOf(place, {}));
  }

  mostly() {
    const { axis, found, everyone, kind } = this;
    const most = mostOf(found, axis.missing), lead = leadOf(axis, found, most);
    if (!lead) {  // of dates where half lie is said below otherwise
      const words = this.said || "No stretch surely has most";
      this.said = "";
      return `${words}.`;
    }
    return kind === "everyone" || lead.endsWith(".") ? `${lead.replace(/\.$/, "")}.` : `${lead}; of everyone ${shareDigits(everyone, most)}.`;
  }

  tip(cell) {
    const { axis, found, everyone, kind } = this;
    const name = stretchWords(axis, cell, cell);
    if (kind === "unknown") return `${name}: ${shareWords(everyone, cell)} of everyone`;
    return `${name}: ${shareWords(found, cell)}${kind === "everyone" ? "" : ` · everyone ${shareDigits(everyone, cell)}`}`;
  }

  fillTable() {
    if (!this.table.open) return;
    const { axis, found, everyone, kind, overview } = this;
    const people = overview.many();
    const rows = Array.from({ length: axis.cells }, (_, cell) => [stretchWords(axis, cell, cell), kind === "unknown" ? "not counted" : shareWords(found, cell),
      kind === "unknown" || !people ? "" : `about ${significant(Math.max(0, found.est[cell]) * people, 3)}`, ...(kind === "everyone" ? [] : [shareWords(everyone, cell)])]);
    const heads = [axis.name, "Share", capital(overview.counted), ...(kind === "everyone" ? [] : ["Of everyone"])];
    this.table.replaceChildren(this.table.firstElementChild, plainTable(axis.name, heads, rows));
  }
}

/** The whole of a released table, asked by pointing at it. */
export class Overview {
  cost; facts; heard; kept; listening; parts; picked; steps; tables; unsaid; waiting;

  /**
   * @param {Tables} tables Of the file; `facts` say how they are called.
   * @param {((view: string) => void) | null} heard Inside another program hears of each view; else the address keeps it.
   */
  constructor(facts, tables, name, heard = null) {
    Object.assign(this, { tables, facts });
    this.name = name;
    this.counted = facts.counted;
    this.axes = tables.axes.map((axis, place) => Object.assign(axis, facts.axes[place]));
    for (const axis of this.axes) {
      if (axis.kind === "date") axis.words = axis.words.map((words, i) => (i < axis.valued ? stretchWords(axis, i, i) : words));
    }
    // What is drawn when it comes into view; cards look after themselves.
    /** @type {Record<string, {draw: (quick?: boolean) => void, seen?: boolean, inside?: boolean, stale?: boolean, place?: number | number[]}>} */
    this.inView = { map: { draw: () => this.drawMap(), place: facts.map?.columns ?? [] }, pairs: { draw: () => this.drawPair(), place: [] },
      groups: { draw: () => this.drawGroups() }, numbers: { draw: () => this.drawNumbers() } };
    Object.assign(this, { picked: new Map(), guesses: false, pair: null, by: -1, of: -1, only: "", views: [], kept: new Map(), parts: new Map(), waiting: new Set(), unsaid: new Set(), cost: 1, heard, listening: new AbortController() });
    this.build();
  }

  /** Conditions of what is picked in all columns but some, one object for all who ask of the same: answers are kept by it. */
  others(without) {
    const places = [...this.picked.keys()].filter((place) => !without.includes(place)).sort((a, b) => a - b);
    const key = places.map((place) => `${place}:${this.picked.get(place)}`).join();
    if (!this.parts.has(key)) this.parts.set(key, { places, weights: Object.fromEntries(places.map((place) => [place, this.weights(place)])) });
    return this.parts.get(key);
  }

  weights(place) {
    const found = new Float64Array(this.axes[place].cells);
    for (const cell of this.picked.get(place)) found[cell] = 1;
    return found;
  }

  /** Shares of cells in a part: measured, guessed, or unknown. */
  answer(of, { places, weights }) {
    if (!places.length) return { found: this.ofEveryone(of), kind: "everyone" };
    if (this.tables.measured([...of, ...places])) return { found: this.tables.shares(of, weights), kind: "part" };
    const guess = this.guesses ? this.tables.guesses.counted(of, weights) : null;
    const whole = guess ? total(guess) : 0;
    return whole > 0 ? { found: { est: guess.map((one) => one / whole), low: null, high: null }, kind: "guess" } : { found: null, kind: "unknown" };
  }

  /** Shares of cells among all, which are worked out once: pictures of a part that is unknown show them at every step of a drag. */
  ofEveryone(of) {
    const key = of.join();
    if (!this.kept.has(key)) this.kept.set(key, this.tables.shares(of, {}));
    return this.kept.get(key);
  }

  numbersOf(place, weights) {
    const asked = !Object.keys(weights).length;
    if (asked && this.kept.has(place)) return this.kept.get(place);
    const mean = this.tables.mean(place, [], weights);
    const found = { mean: { est: mean.est[0], low: mean.low[0], high: mean.high[0] }, quartiles: [0.25, 0.5, 0.75].map((share) => this.tables.quantile(place, share, weights)) };
    if (asked) this.kept.set(place, found);
    return found;
  }

  build() {
    const { axes, facts } = this;
    this.status = element("p", { class: "unseen", role: "status" });
    this.many_ = element("p", { class: "many" }, element("strong"), element("span"), element("em"));
    this.chips = element("div", { class: "chips" });
    const onMap = facts.map ? facts.map.columns : [];
    this.cards = axes.map((_, place) => place).filter((place) => !onMap.includes(place) && this.tables.measured([place])).map((place) => new Card(this, place));
    this.grid = element("div", { class: "cards" });
    if (facts.map) this.grid.append(this.buildMap(facts.map));
    this.grid.append(...this.cards.map(({ whole }) => whole));
    this.bar = element("div", { class: "bar-top", role: "region", "aria-label": "What is picked" }, element("div", { class: "counted" }, this.many_, this.chips), this.buildTools());
    this.hint = element("p", { class: "note hint" }, "Touch a bar, or drag over a stretch: every other picture shows that part at once, and a thin line keeps everyone. Bars fade where the noise leaves the end open; hatched is what it hides.");
    this.pairs = element("section", { "data-view": "pairs", "aria-labelledby": "pairs" }, element("h2", { id: "pairs" }, "What goes together"));
    this.groups = element("section", { "data-view": "groups", "aria-labelledby": "groups" }, element("h2", { id: "groups" }, "Group by group"));
    this.numbers = element("section", { "data-view": "numbers", "aria-labelledby": "numbers" }, element("h2", { id: "numbers" }, "Means and quartiles"));
    const finder = axes.length < FINDER ? [] : [element("label", { class: "finder" }, element("span", {}, `Find one of ${axes.length} columns`), element("input", { type: "search", oninput: (event) => this.find(event.target.value) }))];
    this.whole = element("div", { class: "overview" }, this.bar, this.hint, ...finder, element("h2", { class: "unseen" }, "Columns"), this.grid, this.pairs, this.groups, this.numbers, this.status,
      hatchPattern());
  }

  buildTools() {
    const button = (label, title, act, more = {}) => element("button", { type: "button", title, onclick: act, ...more }, label);
    this.clear = button("Everyone", "Give up what is picked", () => this.change(() => this.picked.clear()), { hidden: true });
    this.guessing = button("Best guesses", "Guess what was not counted together", () => this.change(() => { this.guesses = !this.guesses; }), { hidden: true });
    this.keep = button("Keep view", "Add this view to those that are presented", () => this.keepView());
    const own = this.heard ? [button("Numbers (CSV)", "Save what all pictures show", () => save(`${this.name}-overview.csv`, "text/csv", this.csv))]
      : [this.keep, button("Present", "Show one view after the other, by arrow keys", () => this.present(0)), button("Link", "Copy a link to this view", () => this.copy())];
    return element("div", { class: "tools", role: "group", "aria-label": "Views" }, this.clear, this.guessing, ...own);
  }

  buildMap({ columns, lines }) {
    const [across, up] = columns.map((place) => this.axes[place]);
    this.map = new CellPicture(across, up, {
      picked: (box, done) => this.pickBox(columns, box, done),
      tip: (x, y) => this.cellTip(this.mapped, columns, x, y),
      said: (words) => this.say(words),
    }, { lines });
    this.mapSays = element("p", { class: "says" });
    this.mapReason = element("p", { class: "reason", hidden: true });
    return element("article", { class: "card map", "data-view": "map", "aria-labelledby": "map" }, element("header", {}, element("h3", { id: "map" }, "On the map"),
      element("button", { type: "button", class: "plain", "aria-label": "Enlarge the map", title: "Enlarge", onclick: () => this.enlarge("map") }, "⤢")), this.mapSays, this.map.place, this.mapReason);
  }

  /** Draw what is in view first, the rest when it comes into view. */
  start() {
    /** @type {Map<Element, any>} */
    const parts = new Map();
    for (const card of this.cards) parts.set(card.whole, card);
    for (const [name, part] of Object.entries(this.inView)) parts.set(this.whole.querySelector(`[data-view="${name}"]`), part);
    const watched = ["200px", "0px"].map((rootMargin, inside) => new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const part = parts.get(target);
        part[inside ? "inside" : "seen"] = isIntersecting;
        if (isIntersecting && part.stale) part.draw();
      }
    }, { rootMargin }));
    let before = 0; // its height follows from words, and moves nothing
    const sized = new ResizeObserver(([{ contentRect: { width } }]) => {
      if (width === before) return;
      before = width;
      this.measure();
      this.soon(true);
    });
    const { signal } = this.listening;
    signal.addEventListener("abort", () => { for (const one of [...watched, sized]) one.disconnect(); });
    if (!this.heard) this.read(location.hash);
    for (const part of this.cards.slice(0, 9)) part.seen = true;
    this.inView.map.seen = true;
    this.measure();
    this.update(true);
    for (const part of parts.keys()) if (part) for (const one of watched) one.observe(part);
    sized.observe(this.grid);
    setTimeout(() => this.rank().then(() => { this.startPairs(); this.startGroups(); this.update(true); }), 0);
    if (!this.heard) addEventListener("hashchange", () => { if (location.hash !== this.written) { this.read(location.hash); this.update(true); } });
    addEventListener("keydown", (event) => this.key(event), { signal });
    for (const event of ["beforeprint", "afterprint"]) addEventListener(event, () => { this.measure(); this.update(true, true); }, { signal });
  }

  /** How wide each picture may be, all asked before anything is drawn. */
  measure() {
    for (const picture of [...this.cards.map((card) => card.picture), this.map, this.pairPicture]) if (picture) picture.room = picture.place.clientWidth;
  }

  /** How strongly any two columns hang together; of thousands of pairs a few at a time, so that nobody waits. */
  async rank() {
    const found = [];
    for (const [one, other] of this.tables.pairs) {
      found.push(this.tables.strength(one, other));
      if (found.length % 200 === 0) await new Promise((next) => { setTimeout(next); });
    }
    this.strengths = strongestFirst(found);
  }

  startPairs() {
    if (!this.strengths.length) {
      this.pairs.append(element("p", {}, this.facts.leftOut || "There is only one column."));
      return;
    }
    this.pair ??= this.strengths[0].columns;
    this.pairList = element("div", { class: "picture-list" });
    this.pairPlace = element("div", { class: "pair" });
    const shown = this.strengths.slice(0, 10);
    this.pairButtons = shown.map((one) => element("button", { type: "button", class: "pair-row", onclick: () => this.change(() => { this.pair = [...one.columns]; }) }));
    const names = ({ columns }) => columns.map((place) => this.axes[place].name).join(" · ");
    shown.forEach((one, i) => this.pairButtons[i].append(element("span", { class: "name" }, names(one)), element("span", { class: "value" }, one.low > 0 ? one.est.toFixed(2) : `≤ ${one.high.toFixed(2)}`),
      meter(one), element("span", { class: "unseen" }, ` very likely ${one.low.toFixed(2)} to ${one.high.toFixed(2)}`)));
    const matrix = this.axes.length >= MATRIX ? [this.matrix()] : [];
    this.pairList.append(element("p", { class: "says" }, strongestPair(this.strengths, this.axes)), ...this.pairButtons, ...matrix, element("p", { class: "note" }, `0: nothing to do with each other; 1: one tells the other (Cramér’s V; what noise alone would add is taken off). ${this.facts.leftOut}`));
    const table = element("details", { class: "behind", ontoggle: () => table.childElementCount > 1 || table.append(plainTable("Which columns go together", ["Columns", "Strength", "Very likely"],
      this.strengths.slice(0, 500).map((one) => [names(one), one.est.toFixed(2), `${one.low.toFixed(2)} to ${one.high.toFixed(2)}`]))) }, element("summary", {}, "Table"));
    this.pairList.append(table);
    this.pairs.append(element("div", { class: "split even" }, this.pairList, this.pairPlace));
  }

  /** How strongly any two columns go together, as a triangle of squares. */
  matrix() {
    const count = this.axes.length;
    const side = Math.max(3, Math.min(22, Math.floor(340 / count)));
    const paths = Array.from({ length: SHADES }, () => "");
    let weak = "";
    const most = Math.max(...this.strengths.map(({ est }) => est), 0.01);
    const by = new Map(this.strengths.map((one) => [one.columns.join(), one]));
    for (const one of this.strengths) {
      const [x, y] = one.columns;
      if (one.low > 0) paths[Math.min(SHADES - 1, Math.floor(Math.sqrt(one.est / most) * SHADES))] += rectangle(x * side, (y - 1) * side, side - (side > 6 ? 1 : 0), side - (side > 6 ? 1 : 0));
      else weak += rectangle(x * side, (y - 1) * side, side - (side > 6 ? 1 : 0), side - (side > 6 ? 1 : 0));
    }
    const length = side * (count - 1);
    const svg = drawing("svg", { viewBox: `0 0 ${length} ${length}`, width: length, height: length, class: "matrix", role: "img", "aria-label": "How strongly any two columns go together; the table below has the numbers." },
      drawing("path", { d: weak, class: "track" }), ...paths.map((d, i) => drawing("path", { d, class: `shade c-shade-${i}` })));
    const said = element("p", { class: "note" }, "Every pair of columns, the darker the stronger: point at one.");
    const at = (event) => {
      const box = svg.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((one) => Math.floor((one / box.width) * (count - 1)));
      return by.get([x, y + 1].join());
    };
    svg.addEventListener("pointermove", (event) => {
      const one = at(event);
      if (one) put(said, `${one.columns.map((place) => this.axes[place].name).join(" and ")}: ${one.est.toFixed(2)}`);
    });
    svg.addEventListener("click", (event) => { const one = at(event); if (one) this.change(() => { this.pair = [...one.columns]; }); });
    return element("div", { class: "matrix-place" }, svg, said);
  }

  drawMap() {
    this.inView.map.stale = false;
    if (this.map) this.mapped = this.drawCells(this.map, this.facts.map.columns, this.mapSays, this.mapReason);
  }

  drawPair() {
    this.inView.pairs.stale = false;
    if (!this.pairPlace) return;
    const [one, other] = this.pair;
    if (this.drawnPair !== this.pair.join()) {
      this.drawnPair = this.pair.join();
      const [across, up] = this.axes[other].kind === "category" || this.axes[one].kind !== "category" ? [one, other] : [other, one];
      const places = this.inView.pairs.place = [across, up];
      this.pairPicture = new CellPicture(this.axes[across], this.axes[up], {
        picked: (box, done) => this.pickBox(places, box, done), tip: (x, y) => this.cellTip(this.paired, places, x, y), said: (words) => this.say(words) });
      this.pairPicture.places = places;
      this.pairTitle = element("h3", {}, `${this.axes[across].name} and ${this.axes[up].name}`);
      this.pairSays = element("p", { class: "says" });
      this.pairReason = element("p", { class: "reason", hidden: true });
      this.pairPlace.replaceChildren(this.pairTitle, this.pairSays, this.pairPicture.place, this.pairReason);
      this.pairButtons.forEach((button, i) => button.setAttribute("aria-pressed", String(this.strengths[i].columns.join() === this.drawnPair)));
    }
    this.paired = this.drawCells(this.pairPicture, this.pairPicture.places, this.pairSays, this.pairReason);
  }

  /** A picture of two columns, among those who are picked in others. */
  drawCells(picture, places, says, reason) {
    const [across, up] = places;
    const part = this.others(places);
    const { found, kind } = this.answer([up, across], part);
    const seen = found ?? this.ofEveryone([up, across]);
    picture.box = places.every((place) => this.picked.has(place)) ? places.map((place) => [Math.min(...this.picked.get(place)), Math.max(...this.picked.get(place))]) : null;
    picture.draw(seen, kind === "unknown" ? "everyone" : kind);
    reason.hidden = kind === "part" || kind === "everyone";
    this.explain(reason, kind, part.places, "This is everyone. ");
    const most = mostOf(seen, -1);
    const [x, y] = [most % this.axes[across].cells, Math.floor(most / this.axes[across].cells)];
    const words = picture.map ? "Densest around" : seen.est[most] > 0.5 ? "Most are" : "Most often";
    const surely = picture.map || !rivalsOf(seen, most, -1).length;
    put(says, surely ? `${words} ${this.placed(places, x, y)}: ${shareDigits(seen, most)}.` : "No place surely has most: noise hides which.");
    picture.place.setAttribute("aria-label", `${this.axes[across].name} and ${this.axes[up].name}: ${says.textContent}`);
    return seen;
  }

  /** Why a picture does not answer, or that it guesses; written again only where that changed. */
  explain(reason, kind, places, instead) {
    const key = `${kind},${places}`;
    if (reason.dataset.of === key) return;
    reason.dataset.of = key;
    if (kind === "unknown") reason.replaceChildren(isolated(`Not counted together with ${listed(places.map((place) => this.axes[place].name))}. ${instead}`), this.guessButton());
    else if (kind === "guess") reason.replaceChildren(element("strong", {}, "Best guess"), ": these columns were not counted together.");
  }

  cellTip(seen, places, x, y) {
    return `${this.placed(places, x, y)}: ${shareWords(seen, y * this.axes[places[0]].cells + x)}`;
  }

  placed(places, x, y) {
    const axes = places.map((place) => this.axes[place]);
    return places === this.facts.map?.columns ? onEarth(axes, x, y) : axes.map((axis, side) => stretchWords(axis, ...[[x, x], [y, y]][side])).join(", ");
  }

  startGroups() {
    const numbers = this.axes.map((_, place) => place).filter((place) => this.axes[place].kind === "number" && !this.facts.map?.columns.includes(place));
    const measured = (of, by) => of !== by && this.tables.measured([of, by]);
    const pairs = (this.strengths ?? []).map(({ columns }) => columns).flatMap(([a, b]) => [[a, b], [b, a]]);
    const usual = pairs.find(([of, by]) => numbers.includes(of) && this.axes[by].cells <= MOST_GROUPS) ?? pairs.find(([, by]) => this.axes[by].cells <= MOST_GROUPS);
    if (!usual) {
      this.groups.hidden = true;
      return;
    }
    if (this.of < 0) [this.of, this.by] = usual;
    this.groupPlace = element("div", { class: "picture groups" });
    this.groupSays = element("p", { class: "says" });
    this.groupReason = element("p", { class: "reason", hidden: true });
    this.groupTable = element("details", { class: "behind", ontoggle: () => this.drawGroups() }, element("summary", {}, "Table"));
    const fill = () => {
      const of = selectOf("What", this.axes.map(({ name }) => name), this.of, (value) => { this.change(() => { this.of = value; if (!measured(value, this.by)) this.by = this.axes.findIndex((_, by) => measured(value, by)); }); fill(); });
      const by = selectOf("By", this.axes.map((axis, place) => [place, axis.name]).filter(([place]) => measured(this.of, place)), this.by, (value) => this.change(() => { this.by = value; }));
      const cells = this.axes[this.of].kind === "category" ? [selectOf("Share of", this.axes[this.of].words, this.cell ?? 0, (value) => this.change(() => { this.cell = value; }))] : [];
      this.groupFields.replaceChildren(of, by, ...cells);
    };
    this.groupFields = element("div", { class: "fields" });
    fill();
    this.groups.append(this.groupFields, this.groupSays, this.groupPlace, this.groupReason, this.groupTable);
  }

  /** Means and quartiles of a column of numbers, or the share of a category, group by group. */
  drawGroups() {
    this.inView.groups.stale = !this.groupPlace?.clientWidth; // where it is folded away it is drawn once it is seen
    if (!this.groupPlace || this.by < 0) return;
    const { of, by, tables } = this;
    const [axis, groups] = [this.axes[of], this.axes[by]];
    const part = this.others([of, by]);
    const measured = tables.measured([of, by, ...part.places]);
    const weights = measured ? part.weights : {};
    const numbers = axis.kind !== "category";
    const cell = Math.min(this.cell ?? 0, axis.cells - 1);
    const rows = Array.from({ length: Math.min(groups.cells, MOST_GROUPS) }, (_, group) => {
      const one = new Float64Array(groups.cells);
      one[group] = 1;
      const within = { ...weights, [by]: one };
      const name = stretchWords(groups, group, group);
      if (!numbers) {
        const found = tables.shares([of], within);
        return { name, bar: true, est: found.est[cell], low: found.low[cell], high: found.high[cell], value: shareDigits(found, cell), words: shareWords(found, cell) };
      }
      const mean = tables.mean(of, [], within);
      const quartiles = [0.25, 0.5, 0.75].map((share) => tables.quantile(of, share, within));
      const known = Number.isFinite(mean.est[0]);
      const error = (mean.high[0] - mean.low[0]) / 3.92;
      const value = known ? valueWords(axis, mean.est[0], axis.kind === "date" ? null : error) : "too few";
      return { name, est: mean.est[0], low: mean.low[0], high: mean.high[0], value, box: known ? [quartiles[0].est, quartiles[2].est] : null,
        words: bandWords(axis, { est: mean.est[0], low: mean.low[0], high: mean.high[0] }), quartiles: known ? quartiles.map((one) => bandWords(axis, one, true)) : ["", "", ""] };
    });
    const seen = rows.filter((row) => Number.isFinite(row.est) && row.name !== groups.words[groups.missing] && (numbers || row.low > 0));
    const what = numbers ? `mean ${axis.name}` : `share of ${axis.words[cell]}`;
    put(this.groupSays, seen.length < 2 ? "Too few people are left to be told apart." : groupsApart(seen, capital(what)));
    this.groupReason.hidden = measured;
    if (!measured) put(this.groupReason, `This is everyone: not counted together with ${listed(part.places.map((place) => this.axes[place].name))}.`);
    const ends = numbers ? [...seen.flatMap(({ box, low, high }) => [low, high, ...(box ?? [])])] : [0, roundedUp(Math.max(0.01, ...rows.map(({ high }) => high || 0)))];
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const marks = (count) => (axis.kind === "date" ? axis.ticks : numbers ? roundMarks(low, high, count) : shareMarks(0, high, count));
    const width = this.groupPlace.clientWidth;
    if (width && seen.length) this.groupPlace.replaceChildren(bandRows(width, rows, low, high, marks));
    if (this.groupTable.open) {
      const heads = numbers ? [groups.name, "Mean", "25% below", "Median", "75% below"] : [groups.name, "Share"];
      this.groupTable.replaceChildren(this.groupTable.firstElementChild, plainTable("Table of groups", heads, rows.map((row) => [row.name, row.words, ...(row.quartiles ?? [])])));
    }
  }

  /** A table of numbers with bands: means and quartiles of every column that has them. */
  drawNumbers() {
    this.inView.numbers.stale = false;
    const places = this.axes.map((_, place) => place).filter((place) => this.axes[place].kind !== "category" && this.tables.measured([place]));
    this.numbers.hidden = !places.length;
    if (!places.length) return;
    const rows = places.map((place) => {
      const axis = this.axes[place];
      const part = this.others([place]);
      if (!this.tables.measured([place, ...part.places])) return [axis.name, "not counted together", "", "", ""];
      const { mean, quartiles } = this.numbersOf(place, part.weights);
      return [titleOf(axis), bandWords(axis, mean), ...quartiles.map((one) => bandWords(axis, one, true))];
    });
    const table = plainTable("Table of means and quartiles", ["Column", "Mean", "25% below", "Median", "75% below"], rows);
    if (this.numbers.childElementCount > 1) this.numbers.lastElementChild.replaceWith(table);
    else this.numbers.append(table);
  }

  /** How many are in the part that is picked, for tables; null where nobody knows. */
  many() {
    const { places, weights } = this.others([]);
    if (!places.length) return Math.max(0, this.tables.records);
    if (this.tables.measured(places)) return Math.max(0, this.tables.count([], weights).est[0]);
    return this.guesses ? this.tables.guesses.counted([], weights)?.[0] ?? null : null;
  }

  drawCount() {
    const { tables, counted } = this;
    const all = tables.count([], {});
    const people = rounded(all.est[0], all.error[0]);
    const { places, weights } = this.others([]);
    const said = (...words) => [...this.many_.children].forEach((node, i) => put(node, words[i] ?? ""));
    if (!places.length) said(`${people} ${counted}`, all.error[0] > 0 ? ` ± ${significant(tables.facts.reach * all.error[0], 2)}` : "");
    else if (tables.measured(places)) {
      const { est: [est], low: [low], high: [high], error: [error] } = tables.count([], weights);
      const ends = roundedRange(Math.max(0, low), high, error);
      if (low <= 0) said(`Fewer than ${ends[1]}`, ` of ${people} ${counted}: the noise hides how many`);
      else said(rounded(est, error), ` of ${people} ${counted} · ${significant((100 * est) / tables.people, 2)}% · very likely ${ends.join(" to ")}`);
    } else {
      const guess = this.guesses ? this.many() : null;
      if (guess === null) said("A part", ` of ${people} ${counted}: how many was not counted`);
      else said(`About ${significant(guess, 2)}`, ` of ${people} ${counted} · best guess`);
    }
    if (this.chipped !== places.join()) {
      this.chipped = places.join();
      this.chips.replaceChildren(...places.map((place) => this.chip(place)));
    }
    places.forEach((place, i) => put(this.chips.children[i].children[1], ` ${this.pickedWords(place)}`));
    this.clear.hidden = !places.length;
    this.guessing.hidden = places.length < 2 && !this.guesses;
    this.guessing.setAttribute("aria-pressed", String(this.guesses));
  }

  chip(place) {
    const { name } = this.axes[place];
    return element("button", { type: "button", class: "chip", title: "Give this up", "aria-label": `Give up ${name}`, onclick: () => this.change(() => this.picked.delete(place)) },
      element("span", {}, name), element("span"), element("span", { class: "close", "aria-hidden": "true" }, "×"));
  }

  pickedWords(place) {
    const [axis, cells] = [this.axes[place], this.picked.get(place)];
    if (axis.kind !== "category") return stretchWords(axis, Math.min(...cells), Math.max(...cells));
    const names = cells.map((cell) => axis.words[cell]);
    const inTurn = axis.round && cells.length > 2 && cells.every((cell, i) => !i || cell === (cells[i - 1] + 1) % axis.cells);
    if (inTurn) return `${names[0]} to ${names[names.length - 1]}`;
    return names.length > 3 ? `${names.slice(0, 2).join(", ")} or ${names.length - 2} more` : names.join(" or ");
  }

  guessButton() {
    return element("button", { type: "button", class: "plain", onclick: () => this.change(() => { this.guesses = true; }) }, "Show the best guess");
  }

  pickCells(place, cells, done) {
    this.touched = place;
    this.change(() => (cells.length ? this.picked.set(place, cells) : this.picked.delete(place)), done);
  }

  pickBox(places, box, done) {
    this.touched = places;
    this.change(() => places.forEach((place, side) => {
      if (box) this.picked.set(place, Array.from({ length: box[side][1] - box[side][0] + 1 }, (_, i) => box[side][0] + i));
      else this.picked.delete(place);
    }), done);
  }

  change(act, done = true) {
    act();
    this.soon(done);
  }

  soon(done) {
    this.done ||= done;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      const whole = this.done;
      this.done = false;
      this.update(whole);
    });
  }

  /** What is in view answers, and once nobody drags what is near it, and groups and numbers; all else when it comes into view. */
  update(done, all = false) {
    this.parts.clear();
    this.drawCount();
    for (const part of [...this.cards, ...Object.values(this.inView)]) {
      part.stale = true;
      if (done ? all || part.seen : part.inside && part.place !== undefined) this.waiting.add(part);
    }
    if (!done) {
      this.follow();
      return;
    }
    for (const part of this.waiting) part.draw();
    this.waiting.clear();
    this.write();
    this.say(this.picked.size ? this.many_.textContent : "");
    this.showOnly();
  }

  /** While somebody drags: as many pictures as a frame has time for, the touched one first, then who waits longest; once none waits, words. */
  follow() {
    const began = performance.now();
    const isTouched = ({ place }) => Number(place === this.touched);
    const turn = [...this.waiting].sort((one, other) => isTouched(other) - isTouched(one)).slice(0, Math.max(2, Math.floor(ROOM / this.cost)));
    for (const part of turn) {
      part.draw(true);
      this.waiting.delete(part);
    }
    if (!this.waiting.size) for (const card of [...this.unsaid].slice(0, SPOKEN)) card.speak();
    // Called once the browser has laid out and painted what was changed, which takes longer than to change it.
    if (turn.length) setTimeout(() => { this.cost += ((performance.now() - began) / turn.length - this.cost) / 4; });
    if (this.waiting.size || this.unsaid.size) this.following ??= requestAnimationFrame(() => { this.following = null; if (!this.frame) this.follow(); });
  }

  say(words) {
    this.status.textContent = words;
  }

  find(words) {
    for (const { whole, axis } of this.cards) whole.hidden = !axis.name.toLowerCase().includes(words.trim().toLowerCase());
  }

  enlarge(view) {
    this.change(() => { this.only = this.only === view ? "" : view; });
    this.whole.querySelector(`[data-view="${view}"]`).scrollIntoView({ block: "nearest" });
  }

  showOnly() {
    for (const part of this.whole.querySelectorAll("[data-view]")) part.classList.toggle("large", part.dataset.view === this.only);
    for (const card of this.cards) {
      const tall = this.only === `c${card.place}`;
      if (card.picture.tall === tall) continue;
      Object.assign(card.picture, { tall, width: 0, room: null });
      card.draw();
    }
    if (this.onlyBefore !== this.only) {
      this.onlyBefore = this.only;
      this.measure();
      for (const part of [...this.cards, ...Object.values(this.inView)]) if (part.seen) part.draw();
    }
  }

  /** The state in numbers of columns and cells, which no name can break. */
  get view() {
    const parts = [...this.picked].map(([place, cells]) => `${place}:${cells.join(".")}`);
    if (this.guesses) parts.push("guess");
    if (this.pair && this.strengths && this.pair !== this.strengths[0].columns) parts.push(`pair:${this.pair.join(".")}`);
    if (this.only) parts.push(`only:${this.only}`);
    return parts.join(";");
  }

  set view(text) {
    this.picked.clear();
    Object.assign(this, { guesses: false, only: "" });
    for (const part of text.split(";")) {
      const [name, values = ""] = part.split(":");
      const numbers = values.split(".").map(Number).filter((one) => Number.isInteger(one) && one >= 0);
      if (name === "guess") this.guesses = true;
      else if (name === "only" && /^(c\d+|map|pairs|groups|numbers)$/.test(values)) this.only = values;
      else if (name === "pair" && numbers.length === 2 && this.tables.measured(numbers)) this.pair = numbers;
      else if (/^\d+$/.test(name) && this.axes[Number(name)]) {
        const cells = numbers.filter((cell) => cell < this.axes[Number(name)].cells);
        if (cells.length) this.picked.set(Number(name), cells);
      }
    }
  }

  read(hash) {
    const found = new URLSearchParams(hash.replace(/^#/, ""));
    if (found.has("view")) this.view = found.get("view");
    if (found.has("show")) this.views = found.get("show").split("~");
  }

  write() {
    if (this.heard) {
      this.heard(this.view);
      return;
    }
    const parts = [...(this.view ? [`view=${this.view}`] : []), ...(this.views.length ? [`show=${this.views.join("~")}`] : [])];
    this.keep.textContent = this.views.length ? `Keep view (${this.views.length})` : "Keep view";
    if (!this.view && !this.views.length && !location.hash.includes("view=")) return;
    this.written = parts.length ? `#${parts.join("&")}` : "#";
    try {
      history.replaceState(null, "", this.written);
    } catch {
      // a page inside another one has no address of its own
    }
  }

  keepView() {
    this.views.push(this.view || " ");
    this.write();
    this.say(`View ${this.views.length} is kept.`);
  }

  async copy() {
    if (!location.hash) history.replaceState(null, "", "#view=");
    const done = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    this.say(done ? "The link is copied." : "The address of this page is the link.");
    put(this.many_.lastElementChild, ` ${this.status.textContent}`);
  }

  /** Views one after the other: those that were kept, or each column in turn. */
  present(place) {
    const views = this.views.length ? this.views : [...(this.map ? ["only:map"] : []), ...this.cards.slice(0, 12).map((card) => `only:c${card.place}`), "only:pairs", "only:groups"];
    if (!this.before) this.before = { view: this.view };
    this.at = Math.min(Math.max(place, 0), views.length - 1);
    document.documentElement.classList.add("presenting");
    this.steps ??= element("nav", { class: "steps", "aria-label": "Presentation" });
    const step = (label, title, act) => element("button", { type: "button", title, "aria-label": title, onclick: act }, label);
    this.steps.replaceChildren(step("‹", "Back", () => this.present(this.at - 1)), element("span", {}, `${this.at + 1} of ${views.length}`), step("›", "On", () => this.present(this.at + 1)), step("×", "End", () => this.endShow()));
    this.whole.append(this.steps);
    this.view = views[this.at];
    this.whole.classList.toggle("all", !this.only);
    this.update(true, true);
  }

  endShow() {
    document.documentElement.classList.remove("presenting");
    this.steps.remove();
    this.view = this.before.view;
    this.before = null;
    this.update(true, true);
  }

  key(event) {
    const [target] = event.composedPath();
    const typing = target.closest?.("input, select, textarea");
    if (event.key === "Escape" && !typing) {
      if (this.before) this.endShow();
      else if (this.only) this.change(() => { this.only = ""; });
      else if (this.picked.size) this.change(() => this.picked.clear());
    } else if (this.before && !typing && !target.closest?.(".picture")) {
      if (["ArrowRight", "PageDown", " "].includes(event.key)) this.present(this.at + 1);
      else if (["ArrowLeft", "PageUp"].includes(event.key)) this.present(this.at - 1);
      else return;
      event.preventDefault();
    }
  }

  /** What all pictures show, as a table. */
  get csv() {
    const rows = this.cards.flatMap((card) => {
      if (card.stale) card.draw();
      const { axis, found, kind } = card;
      return kind === "unknown" ? [] : axis.words.map((words, i) => [axis.name, words, found.est[i], found.low ? found.low[i] : NaN, found.high ? found.high[i] : NaN]);
    });
    return csvOf(["column", "cell", "share", "low", "high"], rows);
  }
}

/** A bar from 0 to 1 with its band. */
const meter = (one) => {
  const svg = drawing("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "meter", "aria-hidden": "true" });
  const band = { est: [one.est], low: [one.low], high: [one.high] };
  svg.append(drawing("path", { class: "track", d: rectangle(0, 0, 100, 8) }), drawing("path", { class: "solid", d: rectangle(0, 0, 100 * Math.max(0, one.low), 8) }),
    ...LEVELS.slice(1).map((_, k) => drawing("path", { class: `fade f${k}`, d: rectangle(100 * bandAt(band, 0, LEVELS[k]), 0, 100 * (bandAt(band, 0, LEVELS[k + 1]) - bandAt(band, 0, LEVELS[k])), 8) })));
  return svg;
};
