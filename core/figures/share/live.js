// What a release says at any place, asked of its counters themselves by the reader.
import { Lattice } from "./lattice.js";
import { endsOf, nearest } from "./numbers.js";
import { filled, productOf } from "../../../readers/javascript/arrays.js";
import { amountAt } from "../../../readers/javascript/columns.js";

// Counters that a picture may look up: a quarter of a second on a small machine. Places that are averaged over then.
const MOST_LOOKUPS = 25e6, AVERAGED = 16, LEAST_SIDE = 24, SAMPLED = 500, STEPS_TAKEN = 60, OF_SUMS = 64, STRIP = 6, WIDER = 48;

/** Whether so many places are many more than a picture has. */
export const isMuchFiner = (places, shape) => productOf(places) > 2 * productOf(shape);

export class Live {
  #brought = null; // no other object has it that takes over what this one knows
  answers; columns; grid; nearest; own; reach; readings; records; suited;

  /** `facts`: of one population, whose `release` the reader opened; without it, it draws what it is brought alone. */
  constructor(facts, release = null) {
    Object.assign(this, facts);
    this.exact = true;
    this.read = [];
    this.chosen = this.suited ?? 0;
    if (release) this.open(release);
  }

  /** Asks a release from now on. */
  open(release) {
    this.grid = Boolean(release.sketch.inBox && release.sketch.terms);
    this.own = release;
  }

  get reading() {
    return this.readings[this.chosen];
  }

  /** The release as it is read now. */
  get release() {
    const bandwidth = this.readings?.[this.chosen]?.bandwidth ?? null;
    return bandwidth === null ? this.own : (this.read[this.chosen] ??= this.own.smoothed(bandwidth));
  }

  offers() {
    return true;
  }

  /** A place along a column, as the reader is asked: a category by its name, a date by its steps. */
  valueOf(place, value) {
    const column = this.columns[place];
    return column.kind === "category" ? column.categories[nearest(column, value)] : column.kind === "amount" ? amountAt(column, value) : value;
  }

  named(at) {
    return Object.fromEntries(Object.entries(at).map(([place, value]) => [this.columns[place].name, this.valueOf(place, value)]));
  }

  /** Values of columns that are not drawn: those held by the visitor, and of distances where everyone is nearest. */
  kept(held, ...drawn) {
    const names = new Set(drawn.filter((place) => place !== null).map((place) => this.columns[place].name));
    return Object.fromEntries(Object.entries({ ...this.nearest, ...this.named(held) }).filter(([name]) => !names.has(name)));
  }

  /** How many places along the sides of a picture are few enough to be asked at once. */
  affordable(sides, held) {
    const { sketch } = this.release;
    const averaged = !this.grid && this.own.names.length > sides.length + Object.keys(held).length ? AVERAGED : 1;
    if (this.grid && sketch.terms.length > 1) return sides.map((side) => Math.min(side, OF_SUMS)); // dozens of products each
    const cost = sketch.waves || this.grid ? 0 : (sketch.lookups ?? 8) * averaged;
    const most = cost ? MOST_LOOKUPS / cost : Infinity;
    const shrunk = Math.min(1, (most / sides.reduce((a, b) => a * b, 1)) ** (1 / sides.length));
    return sides.map((side) => Math.max(Math.min(side, LEAST_SIDE), Math.floor(side * shrunk)));
  }

  /** Where a picture over one or two columns is asked, inside a window, at so many places along its sides. */
  laid(x, y, window, sides) {
    const axes = y === null ? [x] : [x, y];
    const along = axes.map((place, side) => {
      const [column, [low, high]] = [this.columns[place], side ? window.y : window.x];
      if (column.kind === "category") return column.categories.map((_, i) => i);
      return Array.from({ length: sides[side] }, (_, i) => low + (i + 0.5) * ((high - low) / sides[side]));
    });
    const rect = [x, y].map((place, side) => place === null ? null
      : this.columns[place].kind === "category" ? endsOf(this.columns[place]) : side ? window.y : window.x);
    return { axes, along, rect, shape: along.map(({ length }) => length).reverse(), values: along[0] };
  }

  /** Answers to a strip of it, from one place along its last axis to another. */
  strip({ axes, along }, held, from = 0, to = Infinity) {
    const drawn = Object.fromEntries(axes.map((place, side) => [this.columns[place].name,
      (side === axes.length - 1 ? along[side].slice(from, to) : along[side]).map((value) => this.valueOf(place, value))]));
    return this.inUnits(this.release.across(drawn, this.kept(held, ...axes), AVERAGED));
  }

  picture(x, y, window, places, held) {
    const laid = this.laid(x, y, window, this.affordable(places.slice(0, y === null ? 1 : 2), held));
    return { ...laid, ...this.strip(laid, held) };
  }

  /** All there is of columns. */
  whole(x, y) {
    return { x: endsOf(this.columns[x]), y: y === null ? null : endsOf(this.columns[y]) };
  }

  /** Takes a map of all of two columns, read as it is now, that was answered for this decoder; null takes it back. */
  bring(x, y, answered) {
    const { shape, ...answers } = answered ?? {};
    this.#brought = shape ? { ...this.laid(x, y, this.whole(x, y), [...shape].reverse()), ...answers, chosen: this.chosen } : null;
  }

  /** That map, if it is the one that is asked; null of any other. */
  brought(x, y, window, held) {
    const own = this.#brought;
    const isAsked = own && String(own.axes) === String([x, y]) && own.chosen === this.chosen && !Object.keys(held).length;
    return isAsked && JSON.stringify(window) === JSON.stringify(this.whole(x, y)) ? own : null;
  }

  /** Whether a map takes a person's patience: a grid whose kernel is a sum of dozens of products. */
  get takesLong() {
    return this.grid && this.release.sketch.terms.length > 1;
  }

  /** Whether so many places show much more than a picture has. */
  isFiner(places, { shape }, held) {
    return isMuchFiner(places, shape) && isMuchFiner(this.affordable(places, held), shape);
  }

  /** A picture strip by strip, so that a page answers between them; null as soon as nobody waits for it any more. */
  async inStrips(x, y, window, places, held, waited) {
    const laid = this.laid(x, y, window, this.affordable(places, held));
    const parts = [], lines = this.takesLong ? STRIP : WIDER;
    for (let from = 0; from < laid.shape[0]; from += lines) {
      await new Promise((next) => { setTimeout(next); });
      if (!waited()) return null;
      parts.push(this.strip(laid, held, from, from + lines));
    }
    const joined = (name) => parts[0][name] && Float64Array.from(parts.flatMap((part) => Array.from(part[name])));
    return { ...laid, ...Object.fromEntries(Object.keys(parts[0]).map((name) => [name, joined(name)])) };
  }

  /** Of distances averages, as a page says them. */
  inUnits({ estimate, low, high, standardError }) {
    const factor = this.answers === "distance" ? 1 / this.records : 1;
    const [est, least, most, error] = [estimate, low, high, standardError].map((numbers) => filled(numbers.length, (i) => numbers[i] * factor));
    const known = error.every(Number.isFinite);
    return { est, low: known ? least : null, high: known ? most : null, error };
  }

  ask(at, held = {}) {
    const found = this.inUnits(this.release.across({}, this.kept({ ...held, ...at })));
    return { estimate: found.est[0], low: found.low?.[0] ?? NaN, high: found.high?.[0] ?? NaN, error: found.low ? found.error[0] : Infinity };
  }

  /** How many records lie inside a box, whatever their other columns; of a grid the noise is exact, and edges are fitted to it. */
  box(ends, x, y) {
    if (this.answers !== "closeness") return null;
    if (!this.grid) {
      return new Lattice({ ...this, pictures: {}, kept: { [`${x},${y}`]: this.picture(x, y, this.whole(x, y), [96, 96], {}) } }).box(ends, x, y);
    }
    const { sketch, population } = this.release;
    const inside = new Map(Object.entries(ends).map(([place, side]) => /** @type {[number, any]} */ (this.sides(sketch, this.columns[place], side))));
    const { estimate, error } = sketch.inBox(population.table, population.variance, inside);
    const reach = this.reach * error[0];
    return { estimate: estimate[0], low: estimate[0] - reach, high: estimate[0] + reach, error: error[0] };
  }

  /** Two ends of a column along its axis; at a bound nothing is beyond them. */
  sides(sketch, column, [low, high]) {
    const [least, most] = endsOf(column);
    if (column.kind !== "category") {
      const [axis, ends] = sketch.along(column.name, [low, high].map((end) => this.valueOf(this.columns.indexOf(column), end)));
      return [axis, [low <= least ? -Infinity : ends[0], high >= most ? Infinity : ends[1]]];
    }
    const [axis, values] = sketch.along(column.name, column.categories);
    const inside = values.filter((_, i) => i > low && i < high);
    const between = (one, other) => (other === undefined ? one : (one + other) / 2);
    const after = values[values.indexOf(inside[inside.length - 1]) + 1];
    const before = values[values.indexOf(inside[0]) - 1];
    return [axis, [before === undefined ? -Infinity : between(inside[0], before), after === undefined ? Infinity : between(inside[inside.length - 1], after)]];
  }

  /**
   * Made-up records that lie as densely as the release says: chains that move about the bounds and stay longer where
   * more is close (Metropolis, Hastings). Nobody's own record is among them, as nothing but the counters is asked.
   */
  drawn(count = SAMPLED) {
    const pick = ({ kind, low, high, categories }) => (kind === "category" ? Math.floor(Math.random() * categories.length) : low + Math.random() * (high - low));
    const near = (column, value) => {
      if (column.kind === "category" || Math.random() < 0.3) return pick(column);
      const moved = value + (column.high - column.low) * 0.2 * (Math.random() + Math.random() - 1);
      return moved < column.low ? 2 * column.low - moved : moved > column.high ? 2 * column.high - moved : moved;
    };
    const heights = (records) => this.release.answer(Object.fromEntries(this.columns.map((column, place) =>
      [column.name, records.map((record) => this.valueOf(place, record[place]))]))).estimate.map((one) => Math.max(one, 0));
    let records = Array.from({ length: count }, () => this.columns.map(pick));
    let high = heights(records);
    for (let step = 0; step < STEPS_TAKEN; step++) {
      const moved = records.map((record) => record.map((value, place) => near(this.columns[place], value)));
      const found = heights(moved);
      const taken = found.map((one, i) => Number(Math.random() * high[i] < one));
      records = records.map((record, i) => (taken[i] ? moved[i] : record));
      high = high.map((one, i) => (taken[i] ? found[i] : one));
    }
    return records;
  }
}
