// Pictures of released tables as vector graphics: bars, histograms, time lines, maps and two columns at a time.
//
// Each is some paths whose outlines change while somebody drags, so that a frame costs a few attributes a picture.
// Ends of bars fade as the error has it: how dark a place is says how likely the exact number reaches to it.
import { SHADES, cutTo, element, isolated, put, textWidth } from "./canvas.js";
import { hiddenByNoise } from "./lattice.js";
import { deviations, marksOf, roundMarks, shareDigits, titleOf, told } from "./numbers.js";

export const LEVELS = [-1.96, -1.28, -0.67, -0.25, 0.25, 0.67, 1.28, 1.96];
let namespace = ""; // no address stands in the page, this one neither: a browser says it when it is asked
/** Stretches of a band between two levels each, with their fade; of a band of a few pixels fewer. */
const [STRETCHES, FEW] = [LEVELS.map((_, i) => i), [0, 3, 4, 7]].map((ends) => ends.slice(1).map((to, i) => [LEVELS[ends[i]], LEVELS[to], `fade f${(ends[i] + to - 1) / 2}`]));
export const ROW = 26, HEIGHT = 168, MOST_ROWS = 12;

/** An element of a drawing; every text becomes a text and nothing else. */
export const drawing = (name, attributes = {}, ...children) => {
  namespace ||= new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;
  const made = document.createElementNS(namespace, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map(isolated));
  return made;
};

const trace = (path, d) => { if (path.drawn !== d) path.setAttribute("d", path.drawn = d); };

/** The pattern of what the noise hides, which a page needs once. */
export const hatchPattern = () => drawing("svg", { width: 0, height: 0, class: "unseen", "aria-hidden": "true" },
  drawing("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, drawing("path", { d: "M0 0V6", class: "hatching" })));

export const tenth = (x) => Math.round(10 * x) / 10;
export const rectangle = (x, y, width, height) => `M${tenth(x)} ${tenth(y)}h${tenth(width)}v${tenth(height)}h${tenth(-width)}z`;

/** The next round number that an axis may end at. */
export const roundedUp = (value) => {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((one) => one * power >= value * 0.9999);
};

/** Where a band reaches at a level, which may be asymmetric. */
export const bandAt = ({ est, low, high }, i, level) =>
  est[i] + (level / 1.96) * (level < 0 ? est[i] - low[i] : high[i] - est[i]);

/** Where cells begin and end in a picture: half-way between values where they have steps, dates at midnight, amounts evenly in doublings. */
const edgesOf = ({ edges, gap, kind, drawn }) => drawn ?? (kind === "date" ? edges : edges.map((one) => one - gap / 2));

/** Round places along an axis of numbers or dates, with what is written there. */
const numbersAlong = (axis, most) => {
  const end = edgesOf(axis)[axis.valued];
  return axis.ticks ?? marksOf({ ...axis, kind: "number" }, [axis.low, axis.gap ? end - axis.gap / 2 : end], most);
};

/** The same by cells and parts of one: round places of numbers or dates, and of as many categories as there is room for the middles. */
export const namesAlong = (axis, most, room) => {
  if (axis.kind === "category") {
    const every = Math.ceil(axis.valued / room);
    return axis.words.slice(0, axis.valued).map((words, cell) => [cell + 0.5, words]).filter((_, cell) => cell % every === 0);
  }
  const edges = edgesOf(axis);
  return numbersAlong(axis, most).filter(([value]) => value >= edges[0] && value <= edges[axis.valued]).map(([value, words]) => {
    const cell = Math.max(edges.findLastIndex((edge, i) => i < axis.valued && edge <= value), 0);
    return [cell + (value - edges[cell]) / (edges[cell + 1] - edges[cell]), words];
  });
};

const isAround = (axis) => axis.round && axis.cells > MOST_ROWS + 2;

/** A drawing that is pointed at: it is pressed, dragged over and gone through by keys, and says what is there. */
class Pointed {
  asks; drag; height; plot; room; width;

  constructor(asks, kind) {
    this.asks = asks;
    this.svg = drawing("svg", { "aria-hidden": "true" });
    this.words = drawing("g", { class: "words" });
    this.tip = element("div", { class: "tip", hidden: true });
    this.place = element("div", { class: `picture ${kind}`, tabindex: "0", role: "group", "aria-roledescription": "picture" }, this.svg, this.tip);
    const own = /** @type {any} */ (this);
    this.place.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.plot) return;
      own.press(event);
      try {
        this.place.setPointerCapture(event.pointerId);
      } catch {
        // a pointer that is gone already cannot be followed
      }
    });
    this.place.addEventListener("pointermove", (event) => this.plot && own.move(event));
    this.place.addEventListener("pointerup", (event) => {
      const { drag } = this;
      this.drag = null;
      if (drag) own.lift(event, drag);
    });
    this.place.addEventListener("pointercancel", () => { this.drag = null; });
    this.place.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.place.addEventListener("keydown", (event) => own.key(event));
  }

  /** As wide as its room, and so high. */
  sized(width, height) {
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) this.svg.setAttribute(name, String(value));
    Object.assign(this, { width, height });
    this.words.replaceChildren();
  }

  /** Say something above a place, inside the picture: the further to one side, the more of it lies to the other; so nothing is measured. */
  tell(words, x, above) {
    put(this.tip, words);
    this.tip.hidden = false;
    const at = Math.min(Math.max(x, 0), this.width);
    this.tip.style.transform = `translate(${at}px, ${above}px) translate(${(-100 * at) / this.width}%, -100%)`;
  }
}

/** A picture of one column: what is drawn is the share of each cell, of everyone and of a part. */
export class Picture extends Pointed {
  axis; drawn; everyone; kind; part; tall; unfolded;

  /** @param {{picked: (cells: number[], done: boolean) => void, tip: (cell: number) => string, said: (words: string) => void}} asks */
  constructor(axis, asks) {
    super(asks, isAround(axis) ? "number" : axis.kind);
    Object.assign(this, { axis, chosen: [], cursor: -1, tall: false });
    this.grid = drawing("g", { class: "grid" });
    const paths = ["ghost-area", "dim solid", "dim fade", "hatched", "solid", ...LEVELS.slice(1).map((_, i) => `fade f${i}`), "guess", "mark", "ghost", "brush", "cursor"];
    this.paths = Object.fromEntries(paths.map((name) => [name, drawing("path", { class: name })]));
    this.svg.append(this.grid, ...Object.values(this.paths), this.words);
    this.place.addEventListener("blur", () => { this.cursor = -1; this.tip.hidden = true; if (this.plot) this.drawChosen(); });
  }

  /** Whether cells are below each other; of many around a circle none is left out, so they stand side by side. */
  get rows() {
    return this.axis.kind === "category" && !this.around;
  }

  get around() {
    return isAround(this.axis);
  }

  /** The cells that are drawn; of many categories without an order the most frequent. */
  get shown() {
    const { axis, everyone } = this;
    const all = Array.from({ length: axis.kind === "category" ? axis.cells : axis.valued }, (_, i) => i);
    if (!this.rows || all.length <= MOST_ROWS + 2 || this.unfolded) return axis.ordered || !this.rows ? all : this.often(all, everyone);
    const often = this.often(all, everyone).slice(0, MOST_ROWS);
    return axis.ordered ? often.sort((a, b) => a - b) : often;
  }

  often(all, { est }) {
    const last = (cell) => Number(cell === this.axis.missing);
    return [...all].sort((a, b) => last(a) - last(b) || (est[b] || 0) - (est[a] || 0));
  }

  /** Draw shares of everyone and of a part; `part` is null where nothing is known of it. */
  draw(everyone, part, kind) {
    const moved = everyone !== this.everyone;
    Object.assign(this, { everyone, part, kind });
    if (moved) this.order = this.shown;
    const width = this.room ??= this.place.clientWidth; // asked once, as it makes a browser lay out the page
    if (!width) return;
    if (moved || width !== this.width) this.lay(width);
    const seen = kind === "unknown" ? everyone : part;
    const ends = this.order.flatMap((i) => [everyone.high[i] || 0, (kind === "guess" ? seen.est[i] : seen.high[i]) || 0]);
    this.scale(roundedUp(Math.max(1e-9, ...ends)));
    if (this.axis.kind === "date" && this.order.length > 5) this.drawLine(seen);
    else this.drawBars(seen);
    this.drawChosen();
  }

  lay(width) {
    this.sized(width, this.rows ? this.order.length * ROW + 4 : this.tall ? Math.max(HEIGHT, Math.min(420, 0.5 * innerHeight)) : HEIGHT);
    this.names = this.rows ? Math.min(0.4 * width, 12 + Math.max(...this.order.map((i) => textWidth(this.axis.words[i])))) : 40;
    this.plot = this.rows ? { left: this.names, right: width - 58, top: 0, bottom: this.height } : { left: this.names, right: width - 8, top: 8, bottom: this.height - 26 };
    this.top = this.strips = null;
    if (this.rows) this.layRows();
    else this.layMarks();
  }

  layRows() {
    this.values = this.order.map((cell, row) => {
      const y = row * ROW + ROW / 2 + 5;
      const name = drawing("text", { x: 0, y, class: "name" }, cutTo(this.axis.words[cell], this.names - 10));
      const value = drawing("text", { x: this.width, y, class: "value" });
      this.words.append(name, value);
      return value;
    });
  }

  layMarks() {
    const { axis, plot } = this;
    const edges = this.drawn ??= edgesOf(axis);
    const [low, high] = [edges[0], edges[axis.valued]];
    this.across = (value) => plot.left + ((value - low) / (high - low)) * (plot.right - plot.left);
    const isApart = ([place, words], i, all) => !i || this.across(place) - this.across(all[i - 1][0]) > (textWidth(words) + textWidth(all[i - 1][1])) / 2 + 10;
    const marks = axis.kind === "category" ? axis.words.map((words, cell) => [cell + 0.5, words])
      : [46, 92, 138].map((room) => numbersAlong(axis, (plot.right - plot.left) / room)).find((some, i) => i === 2 || some.every(isApart));
    let end = -Infinity;
    for (const [place, words] of marks) {
      const x = this.across(place);
      const half = textWidth(words) / 2;
      const at = Math.min(Math.max(x, half), this.width - half);
      if (at - half < end + 10 || x < plot.left - 1 || x > plot.right + 1) continue;
      end = at + half;
      this.words.append(drawing("path", { class: "tick", d: `M${x} ${plot.bottom}v5` }), drawing("text", { x: at, y: plot.bottom + 20, class: "along" }, words));
    }
    this.words.append(drawing("path", { class: "base", d: `M${plot.left} ${plot.bottom}H${plot.right}` }));
  }

  scale(top) {
    if (top === this.top) return;
    this.top = top;
    const { left, right, bottom } = this.plot;
    if (this.rows) {
      this.at = (share) => left + (share / top) * (right - left);
      this.grid.replaceChildren(drawing("path", { d: `M${left} 2V${this.height - 2}` }));
      return;
    }
    this.at = (share) => bottom - (share / top) * (bottom - this.plot.top);
    const lines = roundMarks(0, 100 * top, 3.4).filter(([value]) => value > 0);
    this.grid.replaceChildren(...lines.flatMap(([value, words]) => {
      const y = this.at(value / 100);
      return [drawing("path", { d: `M${left} ${y}H${right}` }), drawing("text", { x: left - 6, y: y + 4 }, `${words}%`)];
    }));
  }

  /** The strip of a bar: where it starts and how wide it is, across its length; and its two sides as a path writes them. */
  strip(row) {
    return (this.strips ??= this.order.map((_, place) => {
      const [start, wide] = this.laidStrip(place);
      return [start, wide, String(tenth(start)), String(tenth(start + wide))];
    }))[row];
  }

  laidStrip(row) {
    if (this.rows) return [row * ROW + 5, ROW - 9];
    const edges = this.drawn ??= edgesOf(this.axis);
    const [x, end] = [this.across(edges[row]), this.across(edges[row + 1])];
    const space = end - x > 5 ? 1 : 0;
    return [x + space / 2, Math.max(0.6, end - x - space)];
  }

  piece(row, from, to, cut = tenth) {
    const [, , start, end] = this.strip(row);
    const [a, b] = [cut(this.at(Math.max(0, from))), cut(this.at(Math.max(0, to)))];
    return this.rows ? `M${a} ${start}H${b}V${end}H${a}z` : `M${start} ${a}V${b}H${end}V${a}z`;
  }

  drawBars(seen) {
    const { everyone, kind, order } = this;
    const d = Object.fromEntries(Object.keys(this.paths).map((name) => [name, ""]));
    const chosen = this.chosen.length ? new Set(this.chosen) : null;
    const pixel = Math.abs(this.at(1) - this.at(0));
    order.forEach((cell, row) => {
      const [est, low, high] = [seen.est[cell], seen.low?.[cell], seen.high?.[cell]];
      const [start, wide, side, other] = this.strip(row);
      if (kind === "unknown") d["ghost-area"] += this.piece(row, 0, est);
      else if (kind === "guess") d.guess += this.piece(row, 0, est);
      else if (Number.isNaN(est)) return;
      else if (!told(low)) d.hatched += this.piece(row, 0, Math.max(high, 0));
      else {
        const dim = chosen && !chosen.has(cell) ? "dim " : "";
        const cut = (high - low) * pixel < 8 ? tenth : Math.round; // steps that meet within a pixel would leave a seam
        d[`${dim}solid`] += this.piece(row, 0, (high - low) * pixel < 1 ? est : low, cut);
        if ((high - low) * pixel >= 1) {
          if (dim) d["dim fade"] += this.piece(row, low, est);
          else for (const [from, to, name] of (high - low) * pixel < 8 ? FEW : STRETCHES) d[name] += this.piece(row, bandAt(seen, cell, from), bandAt(seen, cell, to), cut);
          if ((high - low) * pixel > 5) d.mark += this.rows ? `M${tenth(this.at(est))} ${side}V${other}` : `M${side} ${tenth(this.at(est))}H${other}`;
        }
      }
      if (seen !== everyone && everyone.est[cell] > 0) {
        const at = tenth(this.at(everyone.est[cell]));
        d.ghost += this.rows ? `M${at} ${start - 2}v${wide + 4}` : `${d.ghost ? "L" : "M"}${side} ${at}H${other}`;
      }
    });
    this.set(d);
  }

  /** The share of each row in digits. */
  write() {
    if (this.rows && this.plot) this.order.forEach((cell, row) => put(this.values[row], this.kind === "unknown" ? "" : shareDigits(this.part, cell)));
  }

  /** A line over time with its band fading to either side. */
  drawLine(seen) {
    const { everyone, kind, order } = this;
    const edges = this.drawn ??= edgesOf(this.axis);
    const d = Object.fromEntries(Object.keys(this.paths).map((name) => [name, ""]));
    const point = (cell, value) => `${this.across((edges[cell] + edges[cell + 1]) / 2).toFixed(1)} ${this.at(Math.max(0, value)).toFixed(1)}`;
    // A week or month that the bounds cut off has fewer for this reason alone: the line begins and ends at whole ones.
    const lengths = order.map((cell) => edges[cell + 1] - edges[cell]);
    const usual = [...lengths].sort((a, b) => a - b)[Math.floor(lengths.length / 2)];
    const whole = order.filter((cell, i) => lengths[i] > 0.75 * usual || (i > 0 && i < order.length - 1));
    const line = (values) => whole.map((cell, i) => `${i ? "L" : "M"}${point(cell, values(cell))}`).join("");
    const known = !Number.isNaN(seen.est[0]);
    if (kind === "unknown") d.ghost = line((cell) => everyone.est[cell]);
    else if (kind === "guess") d.guess = line((cell) => seen.est[cell]);
    else if (known) {
      for (let k = 0; k < 3; k++) {
        const [a, b] = [LEVELS[k], LEVELS[7 - k]];
        const back = [...whole].reverse().map((cell) => `L${point(cell, bandAt(seen, cell, a))}`).join("");
        d[`fade f${6 - 2 * k}`] = `${line((cell) => bandAt(seen, cell, b))}${back}z`;
      }
      d.mark = line((cell) => seen.est[cell]);
      for (const cell of whole) if (!told(seen.low[cell])) d.hatched += this.piece(cell, 0, Math.max(seen.high[cell], 0));
    }
    if (seen !== everyone && kind !== "unknown") d.ghost = line((cell) => everyone.est[cell]);
    this.place.classList.add("line");
    this.set(d);
  }

  set(d) {
    for (const [name, path] of Object.entries(this.paths)) {
      if (name === "brush" || name === "cursor") continue;
      trace(path, d[name]);
    }
    this.place.classList.toggle("guessed", this.kind === "guess");
    this.place.classList.toggle("chosen", this.chosen.length > 0);
  }

  drawChosen() {
    const { left, top, bottom } = this.plot;
    let brush = "";
    if (this.around) {
      for (const [x, wide] of this.chosen.map((cell) => this.strip(cell))) brush += rectangle(x - 0.5, top - 6, wide + 1, bottom - top + 6);
    } else if (!this.rows && this.chosen.length) {
      const [first, last] = this.stretch();
      const [x, end] = [this.strip(first)[0], this.strip(last)[0] + this.strip(last)[1]];
      brush = `${rectangle(x, top - 6, end - x, bottom - top + 6)}M${x} ${top - 6}V${bottom}M${end} ${top - 6}V${bottom}`;
    } else if (this.rows) {
      this.order.forEach((cell, row) => {
        if (this.chosen.includes(cell)) brush += rectangle(left - 7, row * ROW + 4, 3, ROW - 7);
      });
      this.values.forEach((_, row) => this.words.children[2 * row].classList.toggle("picked", this.chosen.includes(this.order[row])));
    }
    trace(this.paths.brush, brush);
    let cursor = "";
    if (this.cursor >= 0) {
      const [start, wide] = this.strip(this.cursor);
      cursor = this.rows ? rectangle(1, start - 3, this.width - 2, wide + 6) : rectangle(start - 1, top, wide + 2, bottom - top);
    }
    trace(this.paths.cursor, cursor);
  }

  stretch() {
    return [Math.min(...this.chosen), Math.max(...this.chosen)];
  }

  /** The row or bar below a place on the screen. */
  rowAt(event) {
    if (this.rows) return Math.min(Math.max(Math.floor((event.clientY - this.svg.getBoundingClientRect().top) / ROW), 0), this.order.length - 1);
    const x = event.clientX - this.left();
    const edges = this.drawn ??= edgesOf(this.axis);
    let row = 0;
    while (row < this.order.length - 1 && this.across(edges[row + 1]) < x) row++;
    return row;
  }

  /** Where the drawing begins on the screen; asked once a drag, as a browser lays out what has changed before it answers. */
  left() {
    return this.drag?.left ?? this.svg.getBoundingClientRect().left;
  }

  press(event) {
    const [row, left] = [this.rowAt(event), this.left()];
    this.drag = { row, left, x: event.clientX, from: row, moved: false, mode: "new" };
    if (this.around && this.chosen.includes(row)) Object.assign(this.drag, { first: this.chosen[0], last: this.chosen[0] + this.chosen.length - 1, mode: "move" });
    else if (!this.rows && !this.around && this.chosen.length) {
      const [first, last] = this.stretch();
      const [x, end] = [this.strip(first)[0], this.strip(last)[0] + this.strip(last)[1]].map((one) => one + left);
      if (Math.abs(event.clientX - x) < 9) Object.assign(this.drag, { from: last, mode: "end" });
      else if (Math.abs(event.clientX - end) < 9) Object.assign(this.drag, { from: first, mode: "end" });
      else if (row >= first && row <= last) Object.assign(this.drag, { first, last, mode: "move" });
    }
  }

  move(event) {
    const row = this.rowAt(event);
    this.showTip(row, event);
    const { drag } = this;
    if (!drag || (this.rows && event.pointerType === "touch")) return;
    if (!drag.moved && (this.rows ? row === drag.row : Math.abs(event.clientX - drag.x) < 4)) return;
    drag.moved = true;
    const to = row + this.beyond(event);
    let ends = [Math.min(drag.from, to), Math.max(drag.from, to)];
    if (drag.mode === "move") {
      const shift = this.around ? to - drag.row : Math.min(Math.max(row - drag.row, -drag.first), this.order.length - 1 - drag.last);
      ends = [drag.first + shift, drag.last + shift];
    }
    this.pick(ends, false);
  }

  /** How many cells beyond an end a pointer is: around a circle they are those of the other end. */
  beyond(event) {
    if (!this.around) return 0;
    const x = event.clientX - this.left();
    const cell = (this.plot.right - this.plot.left) / this.order.length;
    const far = (x - Math.min(Math.max(x, this.plot.left), this.plot.right)) / cell;
    return Math.sign(far) * Math.ceil(Math.abs(far));
  }

  lift(event, drag) {
    if (drag.moved) this.asks.picked(this.chosen, true);
    else this.click(this.rowAt(event));
  }

  /** One bar: of categories one more or less, else alone or none. */
  click(row) {
    const cell = this.order[row];
    if (this.rows) {
      const has = this.chosen.includes(cell);
      this.chosen = has ? this.chosen.filter((one) => one !== cell) : [...this.chosen, cell];
    } else this.chosen = this.chosen.includes(cell) ? [] : [cell];
    this.asks.picked(this.chosen, true);
  }

  pick(ends, done) {
    const [first, last] = ends;
    const { length } = this.order;
    const turn = (row) => ((row % length) + length) % length;
    const cells = Array.from({ length: Math.min(last - first + 1, length) }, (_, i) => this.order[turn(first + i)]);
    if (!done && cells.length === this.chosen.length && cells.every((one, i) => one === this.chosen[i])) return;
    this.chosen = cells;
    this.asks.picked(cells, done);
  }

  showTip(row, event) {
    if (row === this.tipped && !this.tip.hidden && !event) return;
    this.tipped = row;
    const [start, wide] = this.strip(row);
    const along = () => (event ? event.clientX - this.left() : this.width / 2);
    this.tell(this.asks.tip(this.order[row]), this.rows ? along() : start + wide / 2, this.rows ? start - 4 : 2);
  }

  /** Arrow keys go from bar to bar, Space picks, Shift draws a stretch, Escape gives it up. */
  key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!this.plot || event.altKey || event.ctrlKey || event.metaKey) return;
    if (step) {
      const from = this.cursor;
      this.cursor = Math.min(Math.max((from < 0 ? (step > 0 ? -1 : this.order.length) : from) + step, 0), this.order.length - 1);
      if (event.shiftKey) {
        this.anchor ??= Math.max(from, 0);
        this.pick([Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor)], true);
      } else this.anchor = null;
      this.showTip(this.cursor, null);
      this.asks.said(this.tip.textContent);
    } else if ((event.key === " " || event.key === "Enter") && this.cursor >= 0) this.click(this.cursor);
    else if (event.key === "Escape" && this.chosen.length) {
      this.chosen = [];
      this.asks.picked([], true);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.drawChosen();
  }
}

/** Two columns: the share of every combination of cells, on a map with its outlines where they are places. */
export class CellPicture extends Pointed {
  across; begins; ends; found; kind; map; up; window;

  /** @param {{picked: (ends: number[][], done: boolean) => void, tip: (x: number, y: number) => string, said: (words: string) => void}} asks */
  constructor(across, up, asks, map = null) {
    super(asks, `cells ${map ? "on-map" : ""}`);
    Object.assign(this, { across, up, map, box: null });
    this.shades = Array.from({ length: SHADES }, (_, i) => drawing("path", { class: `shade c-shade-${i}` }));
    this.hatched = drawing("path", { class: "hatched" });
    this.lines = drawing("path", { class: "coast" });
    this.brush = drawing("path", { class: "brush" });
    this.window = drawing("svg", {}, this.lines); // lines end with the map
    this.svg.append(...this.shades, this.hatched, this.window, this.brush, this.words);
  }

  press(event) {
    this.drag = { from: this.cellAt(event), moved: false };
  }

  lift(event, drag) {
    const inside = this.box && this.box.every(([first, last], side) => drag.from[side] >= first && drag.from[side] <= last);
    if (!drag.moved) this.box = inside ? null : drag.from.map((one) => [one, one]);
    this.asks.picked(this.box, true);
  }

  draw(found, kind) {
    const width = this.room ??= this.place.clientWidth;
    if (!width) return;
    if (found === this.found && kind === this.kind && width === this.width) {
      this.drawBox();
      return;
    }
    Object.assign(this, { found, kind });
    if (width !== this.width) this.lay(width);
    const [columns, rows] = [this.across.valued, this.up.valued];
    const hidden = kind === "guess" ? null : this.hidden(found);
    const own = (x, y) => y * this.across.cells + x;
    const isSeen = (x, y) => !hidden?.[y * columns + x];
    let most = 0;
    for (let y = 0; y < rows; y++) for (let x = 0; x < columns; x++) if (isSeen(x, y)) most = Math.max(most, found.est[own(x, y)]);
    // Neighbours of one shade are one piece; those that the noise hides are behind all shades.
    const paths = this.shades.map(() => "");
    let behind = "";
    for (let y = 0; y < rows; y++) {
      const [top, height] = [this.y(y + 1), this.y(y) - this.y(y + 1) + 0.3];
      const shadeAt = (x) => (isSeen(x, y) ? Math.min(SHADES - 1, Math.floor(Math.sqrt(Math.max(0, found.est[own(x, y)]) / (most || 1)) * SHADES)) : -1);
      for (let x = 0, shade = shadeAt(0); x < columns;) {
        const first = x++;
        let next = -2;
        while (x < columns && (next = shadeAt(x)) === shade) x++;
        const piece = rectangle(this.x(first), top, this.x(x) - this.x(first) + 0.3, height);
        if (shade < 0) behind += piece;
        else paths[shade] += piece;
        shade = next;
      }
    }
    this.shades.forEach((path, i) => trace(path, paths[i]));
    trace(this.hatched, behind);
    this.place.classList.toggle("guessed", kind === "guess");
    this.drawBox();
  }

  /** Which cells the noise hides; of numbers none is seen that noise alone may make among so many. */
  hidden({ est, low, high }) {
    const [{ valued: columns, cells }, { valued: rows }] = [this.across, this.up];
    const own = (values) => Float64Array.from({ length: rows * columns }, (_, i) => values[Math.floor(i / columns) * cells + (i % columns)]);
    const isNamed = [this.across, this.up].some(({ kind }) => kind === "category");
    return hiddenByNoise({ est: own(est), low: own(low), high: own(high), shape: [rows, columns] }, deviations(0.025 / (rows * columns)), null, isNamed);
  }

  lay(width) {
    const { across, up, map } = this;
    const left = map ? 0 : Math.min(0.32 * width, 14 + Math.max(...up.words.map((words) => textWidth(words))));
    const right = width - (map ? 0 : 6);
    let height = Math.min(46 * up.valued, 0.62 * (right - left), 430);
    if (!map) height = Math.max(height, 150);
    let wide = right - left;
    if (map) {
      const [[west, east], [south, north]] = this.ends = [across, up].map((axis) => [0, axis.valued].map((edge) => edgesOf(axis)[edge]));
      const ratio = (north - south) / ((east - west) * Math.cos(((south + north) / 2) * (Math.PI / 180)));
      height = Math.min(wide * ratio, 520);
      wide = height / ratio;
    }
    this.plot = { left: map ? (right - wide) / 2 : left, top: map ? 0 : 6, width: wide, height };
    this.sized(width, height + (map ? 2 : 46));
    // On a map a cell is as large as what it stands for; elsewhere all are alike.
    this.begins = [across, up].map((axis) => Array.from({ length: axis.valued + 1 }, (_, cell) => {
      const [edge, first, last] = [cell, 0, axis.valued].map((one) => (map ? edgesOf(axis)[one] : one));
      return (edge - first) / (last - first);
    }));
    const share = (begins, cell, first = Math.floor(cell)) => begins[first] + (cell - first) * ((begins[first + 1] ?? 0) - begins[first]);
    this.x = (cell) => this.plot.left + share(this.begins[0], cell) * wide;
    this.y = (cell) => this.plot.top + (1 - share(this.begins[1], cell)) * height;
    if (map) this.layCoasts();
    else this.layNames();
  }

  layCoasts() {
    const { ends: [[west, east], [south, north]], plot } = this;
    const at = ([x, y]) => `${(((x - west) / (east - west)) * plot.width).toFixed(1)} ${((1 - (y - south) / (north - south)) * plot.height).toFixed(1)}`;
    for (const [name, value] of Object.entries({ x: plot.left, y: plot.top, width: plot.width, height: plot.height })) this.window.setAttribute(name, String(value));
    this.lines.setAttribute("d", this.map.lines.map((line) => `M${line.map(at).join("L")}`).join(""));
    this.words.append(drawing("path", { class: "frame", d: rectangle(plot.left, plot.top, plot.width, plot.height) }));
  }

  layNames() {
    const { across, up, plot } = this;
    let last = Infinity;
    for (const [cell, words] of namesAlong(up, plot.height / 34, plot.height / 17)) {
      const y = this.y(cell) + 4;
      if (last - y < 16) continue;
      last = y;
      this.words.append(drawing("text", { x: plot.left - 8, y, class: "up" }, cutTo(words, plot.left - 10)));
    }
    const widest = Math.max(70, plot.width / across.valued - 10);
    const room = Math.max(...across.words.slice(0, across.valued).map((words) => Math.min(textWidth(words), widest))) + 10;
    let end = -Infinity;
    for (const [cell, words] of namesAlong(across, plot.width / 70, plot.width / room)) {
      const name = cutTo(words, widest);
      const half = textWidth(name) / 2;
      const at = Math.min(Math.max(this.x(cell), plot.left + half), this.width - half);
      if (at - half < end + 6) continue; // the first one was moved inside
      end = at + half;
      this.words.append(drawing("text", { x: at, y: plot.top + plot.height + 17, class: "along" }, name));
    }
    this.words.append(drawing("text", { x: plot.left + plot.width / 2, y: this.height - 4, class: "along title" }, cutTo(`${titleOf(across)} →`, plot.width)));
  }

  cellAt(event) {
    const box = this.svg.getBoundingClientRect();
    const { left, top, width, height } = this.plot;
    const inside = (share, begins) => Math.min(Math.max(begins.findLastIndex((begin) => begin <= share), 0), begins.length - 2);
    return [inside((event.clientX - box.left - left) / width, this.begins[0]), inside(1 - (event.clientY - box.top - top) / height, this.begins[1])];
  }

  move(event) {
    const at = this.cellAt(event);
    this.showTip(at);
    if (!this.drag || event.pointerType === "touch") return;
    const { from } = this.drag;
    if (!this.drag.moved && at[0] === from[0] && at[1] === from[1]) return;
    this.drag.moved = true;
    const box = from.map((one, side) => [Math.min(one, at[side]), Math.max(one, at[side])]);
    if (String(box) === String(this.box)) return;
    this.box = box;
    this.asks.picked(box, false);
  }

  showTip(at) {
    const [x, y] = at;
    this.tell(this.asks.tip(x, y), this.x(x + 0.5), this.y(y + 1) - 4);
  }

  key(event) {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step && !event.altKey && !event.ctrlKey && this.plot) {
      const most = [this.across.valued, this.up.valued];
      this.cursor = (this.cursor ?? [0, -1]).map((one, side) => Math.min(Math.max(one + step[side], 0), most[side] - 1));
      this.showTip(this.cursor);
      this.asks.said(this.tip.textContent);
    } else if ((event.key === " " || event.key === "Enter") && this.cursor) {
      this.box = this.cursor.map((one) => [one, one]);
      this.asks.picked(this.box, true);
    } else if (event.key === "Escape" && this.box) this.asks.picked(this.box = null, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  drawBox() {
    const { box } = this;
    trace(this.brush, box ? rectangle(this.x(box[0][0]), this.y(box[1][1] + 1), this.x(box[0][1] + 1) - this.x(box[0][0]), this.y(box[1][0]) - this.y(box[1][1] + 1)) : "");
  }
}

/** Rows with a number each, its band fading, and what else is marked on the same scale. */
export const bandRows = (width, rows, low, high, words) => {
  const names = Math.min(0.36 * width, 14 + Math.max(...rows.map(({ name }) => textWidth(name))));
  const [left, right] = [names, width - Math.max(60, 12 + Math.max(...rows.map(({ value }) => textWidth(value))))];
  const at = (value) => left + (Math.min(Math.max((value - low) / (high - low || 1), 0), 1)) * (right - left);
  const height = rows.length * ROW + 26;
  const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" });
  for (const [place, text] of words((right - left) / 80)) {
    if (place < low || place > high) continue;
    svg.append(drawing("path", { class: "gridline", d: `M${at(place)} 0V${height - 24}` }), drawing("text", { x: at(place), y: height - 6, class: "along" }, text));
  }
  rows.forEach((row, i) => {
    const y = i * ROW + 5;
    const part = drawing("g", { class: row.guessed ? "guessed" : "" }, drawing("text", { x: 0, y: y + 13, class: "name" }, cutTo(row.name, names - 10)));
    if (row.box) part.append(drawing("path", { class: "spread", d: rectangle(at(row.box[0]), y + 5, at(row.box[1]) - at(row.box[0]), ROW - 19) }));
    if (row.bar && !row.guessed && !(row.low > 0)) part.append(drawing("path", { class: "hatched", d: rectangle(at(low), y, at(row.high) - at(low), ROW - 9) }));
    else if (row.bar) part.append(drawing("path", { class: row.guessed ? "guess" : "solid", d: rectangle(at(low), y, at(row.guessed ? row.est : row.low) - at(low), ROW - 9) }));
    if (Number.isFinite(row.low) && (!row.bar || row.low > 0)) {
      const one = { est: [row.est], low: [row.low], high: [row.high] };
      LEVELS.slice(1).forEach((_, k) => {
        const [a, b] = row.bar ? [LEVELS[k], LEVELS[k + 1]] : [LEVELS[Math.min(k, 3)], LEVELS[7 - Math.min(k, 3)]];
        if (row.bar || k < 4) part.append(drawing("path", { class: `fade f${row.bar ? k : 6 - 2 * k}`, d: rectangle(at(bandAt(one, 0, a)), y, Math.max(0.8, at(bandAt(one, 0, b)) - at(bandAt(one, 0, a))), ROW - 9) }));
      });
    }
    if (Number.isFinite(row.est)) part.append(drawing("path", { class: "mark", d: `M${at(row.est)} ${y}v${ROW - 9}` }));
    part.append(drawing("text", { x: width, y: y + 13, class: "value" }, row.value));
    svg.append(part);
  });
  return svg;
};
