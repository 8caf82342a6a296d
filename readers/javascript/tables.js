// Released tables, decoded here: counts of any columns that were measured together, from the noisy residuals themselves.
//
// It needs nothing of a page. `core.sketches.tables` says why; names and formulas are those of its `reading`, `counts`,
// `ratios`, `association` and `best_guess`, and answers are the same but for rounding.

import { centred, dot, filled, halfEven, inOrder, outer, productOf, subsets, summed, total, transposed } from "./arrays.js";
import { ReaderError } from "./archive.js";
import { axesOf } from "./axes.js";
import { Guesses } from "./guesses.js";
import { endsOfMean } from "./parts.js";
import { normalQuantile } from "./special.js";

/** @import { TableAxis } from "./axes.js" */
/**
 * @typedef {object} TableFacts
 * @property {readonly TableAxis[]} axes
 * @property {number[][]} tables By places of their columns.
 * @property {string} measured "contrasts", "cells" or "margins".
 * @property {number[]} weights One a block.
 * @property {number} variance Of the noise in a counter.
 * @property {number | null} total The number of records where it is known besides, and its variance.
 * @property {number} totalVariance
 * @property {number} reach Standard errors that a band reaches to either side.
 * @property {{design: number, square: number} | null} luck Of the draw, where answers are about whom records were drawn from.
 * @property {Record<string, {cells: number[], counts: number[], weight: number, unit: number}>} found What was counted before.
 * @property {{lengths: number[], entries: Record<string, number[][]>, fitted?: number, common?: number[] | null}} [together] Directions that many columns share, what they are too likely by for each of
 *     a pair's numbers, and how common each way to differ from what is expected is.
 *
 * @typedef {{est: Float64Array, low: Float64Array, high: Float64Array, error: Float64Array}} Banded
 * @typedef {Record<number, Float64Array>} Conditions By column, a weight for each of its cells: 1 where it is meant.
 */

const TOLD = 2, WHOLE_BITS = 26, MOST_BITS = 16, TRIED = 4096;

/** Every line along one side of an array goes through a function, which gives a line of another length. */
const eachLine = (values, sides, side, length, change) => {
  const after = productOf(sides.slice(side + 1));
  const own = sides[side];
  const found = new Float64Array((values.length / own) * length);
  const line = new Float64Array(own);
  for (let start = 0, to = 0; start < values.length; start += own * after, to += length * after) {
    for (let a = 0; a < after; a++) {
      for (let i = 0; i < own; i++) line[i] = values[start + i * after + a];
      const changed = change(line);
      for (let i = 0; i < length; i++) found[to + i * after + a] = changed[i];
    }
  }
  return found;
};

/** What some cells have more than their mean. */
const apart = (values, cells) => centred(cells.map((cell) => values[cell]));

const withEnds = (est, error, ends) => {
  const [low, high] = [new Float64Array(est.length), new Float64Array(est.length)];
  for (let i = 0; i < est.length; i++) [low[i], high[i]] = ends(i);
  return { est, low, high, error };
};

/** The nearest numbers between ends with this sum: all are lowered by the same and held between their ends. */
const nearestBetween = (values, low, high, sum) => {
  let [under, over] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    under = Math.min(under, values[i] - high[i]);
    over = Math.max(over, values[i] - low[i]);
  }
  const found = new Float64Array(values.length);
  for (let halving = 0; halving <= 60; halving++) {
    const lowered = (under + over) / 2;
    let added = 0;
    for (let i = 0; i < found.length; i++) added += found[i] = Math.min(Math.max(values[i] - lowered, low[i]), high[i]);
    if (added > sum) under = lowered;
    else over = lowered;
  }
  return found;
};

/** How far a draw of records moves a sum: see `sketches.answers.SamplingLuck`. */
const luckVariance = (luck, squares, sum, records) => luck.design * Math.max(squares - sum ** 2 / records, 0);

const luckEnds = ({ design, square }, est, reach, records, ratio) => {
  const squared = square * design;
  const [leading, middle] = [1 + squared / records, 2 * est + squared * ratio];
  const root = Math.sqrt(Math.max(middle ** 2 - 4 * leading * (est ** 2 - reach ** 2), 0));
  const inside = (end) => end > 0 && end < ratio * records;
  const [low, high] = [(middle - root) / (2 * leading), (middle + root) / (2 * leading)];
  return [inside(low) ? low : est - reach, inside(high) ? high : est + reach];
};

/** The most likely rising course of sums up to each edge: between the highest so far and the lowest from here on. */
const rising = (below) => {
  const [highest, lowest, last] = [below.slice(), below.slice(), below.length - 1];
  for (let i = 1; i <= last; i++) highest[i] = Math.max(highest[i], highest[i - 1]);
  for (let i = last - 1; i >= 0; i--) lowest[i] = Math.min(lowest[i], lowest[i + 1]);
  return highest.map((one, i) => (one + lowest[i]) / 2);
};

/** Whether a cell holds a heap of equal values for certain, by how many lie below each edge: see `quantiles`. */
const heaped = (course, cell, doubt) => {
  const own = course[cell + 1] - course[cell];
  if (own <= 2 * doubt || course[course.length - 1] - course[0] - own < own / 9) return false;
  const counts = course.slice(1).map((one, i) => one - course[i]);
  const smooth = (beside) => {
    for (let wide = 1; 2 * wide <= beside.length; wide *= 2) {
      const [near, far] = [total(beside.slice(0, wide)), total(beside.slice(wide, 2 * wide))];
      if (near > 2 * doubt) return (near / wide) * Math.max(1, near / Math.max(far, doubt, 1e-9)) ** (1 + 1 / wide);
    }
    return total(beside) / Math.max(beside.length, 1);
  };
  return own - doubt > 3 * Math.max(smooth(counts.slice(0, cell).reverse()), smooth(counts.slice(cell + 1)));
};

/** The roundest number from low to below high, of some as round the nearest to one: see `quantiles`. */
const roundest = (low, high, nearest, step) => {
  const occurs = (number) => !step || Math.abs((number - low) / step - Math.floor((number - low) / step + 0.5)) < 1e-6;
  if (low <= 0 && high > 0 && occurs(0)) return 0;
  const power = Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high)))) + 1;
  for (let digits = 0; digits < 15; digits++) {
    for (const leading of [5, 2, 1]) {
      const size = leading * 10 ** (power - digits);
      const [first, last] = [Math.ceil(low / size - 1e-9), Math.ceil(high / size - 1e-9) - 1];
      const number = Number((size * Math.min(Math.max(Math.floor(nearest / size + 0.5), first), last)).toPrecision(15)); // 0.69 is 69 * 0.01
      if (first <= last && occurs(number)) return number;
    }
  }
  return nearest;
};

/** Where T passes zero, and the ends of what that may be, by T and its reach at every edge. */
const crossing = (edges, step, byNumbers, below, reach, course) => {
  const [last, near] = [below.length - 1, 1e-9 * below.reduce((most, one) => Math.max(most, Math.abs(one)), 0)];
  let [first, end] = [0, 0];
  while (first < last && below[first] + reach[first] < -near) first++;
  while (end < last && below[last - end] - reach[last - end] > near) end++;
  let [least, most] = [edges[Math.max(first - 1, 0)], edges[Math.min(last + 1 - end, last)]];
  let place = course.findIndex((one) => one >= -near);
  place = Math.min(Math.max(place < 0 ? last : place, 1), last);
  const [before, after] = [course[place - 1], course[place]];
  const part = after <= before ? 0.5 : Math.min(Math.max(-before / (after - before), 0), 1);
  let found = edges[place - 1] + part * (edges[place] - edges[place - 1]);
  if (step) {
    found = Math.max(edges[place - 1] + step * (Math.ceil((found - edges[place - 1]) / step - 1e-9) - 1), edges[place - 1]);
    most -= step;
  }
  if (byNumbers && edges[place] - edges[place - 1] > step && heaped(course, place - 1, reach[place - 1] + reach[place])) {
    found = roundest(edges[place - 1], edges[place], found, step);
  }
  [least, most] = [Math.min(least, most), Math.max(least, most)];
  return [Math.min(Math.max(found, least), most), least, most];
};

/** How many of some counts lie below each edge, less their share of all. */
const belowEdges = (counts, share) => {
  const found = new Float64Array(counts.length + 1);
  const all = total(counts);
  for (let edge = 0, before = 0; edge <= counts.length; before += counts[edge++]) found[edge] = before - share * all;
  return found;
};

/** The contrasts of an axis: see `table_layout.Contrasts`. */
class Contrasts {
  before; cells;

  static known = new Map();

  static of(cells, bits) {
    const key = `${cells},${bits}`;
    if (!Contrasts.known.has(key)) Contrasts.known.set(key, new Contrasts(cells, bits));
    return Contrasts.known.get(key);
  }

  constructor(cells, bits) {
    Object.assign(this, { cells, before: new Float64Array(cells + 1) });
    /** @type {{first: number, middle: number, last: number, p: number, length: number, left: number, right: number, square: number}[]} */
    this.splits = [];
    for (const todo = [[0, cells]]; todo.length;) {
      const [first, last] = todo.pop();
      const whole = last - first;
      if (whole === 1) continue;
      let prime = 2;
      while (prime * prime <= whole && whole % prime) prime++;
      if (whole % prime) prime = whole;
      const middle = first + (whole / prime) * (prime - 1);
      this.splits.push({ first, middle, last, p: prime - 1, length: Math.sqrt(whole * (prime - 1)), left: 1, right: 1, square: 1 });
      todo.push([first, middle], [middle, last]);
    }
    const near = this.suitable([...new Set(this.splits.map(({ length }) => length))], bits);
    for (const split of this.splits) {
      const factor = Math.max(1, halfEven(near / split.length));
      Object.assign(split, { left: factor, right: factor * split.p });
      split.square = (split.middle - split.first) * split.left ** 2 + (split.last - split.middle) * split.right ** 2;
    }
  }

  /** The length for which whole factors make contrasts most nearly equal to it. */
  suitable(lengths, bits) {
    const most = 2 ** bits;
    let [best, off] = [0, Infinity];
    for (let tried = Math.max(most - TRIED, most / 2); tried <= most; tried++) {
      let worst = 0;
      for (const length of lengths) {
        worst = Math.max(worst, Math.abs((Math.max(1, halfEven(tried / length)) * length) / tried - 1));
      }
      if (worst < off) [best, off] = [tried, worst];
    }
    return best;
  }

  /** The counts of sum 0 that have these contrasts. */
  back(values) {
    const steps = new Float64Array(this.cells + 1);
    this.splits.forEach(({ first, middle, last, left, right, square }, k) => {
      const value = values[k] / square;
      steps[first] += value * left;
      steps[middle] -= value * (left + right);
      steps[last] += value * right;
    });
    for (let i = 1; i < this.cells; i++) steps[i] += steps[i - 1];
    return steps;
  }

  /** The variance of a weighted sum of cells, for noise of variance 1 in every contrast. */
  variance(weights) {
    const { before } = this; // it is asked for thousands of sums
    for (let i = 0; i < this.cells; i++) before[i + 1] = before[i] + weights[i];
    let sum = 0;
    for (let k = 0; k < this.splits.length; k++) {
      const { first, middle, last, left, right, square } = this.splits[k];
      sum += ((left * (before[middle] - before[first]) - right * (before[last] - before[middle])) / square) ** 2;
    }
    return sum;
  }
}

/** A release of tables: unbiased answers with bands, and the best guess. */
export class Tables {
  /**
   * @param {TableFacts} facts
   * @param {Float64Array} counters As they are in the file.
   */
  constructor(facts, counters) {
    this.facts = facts;
    this.axes = facts.axes;
    this.counters = counters;
    this.kept = { residuals: new Map(), counts: new Map(), variances: new Map(), spread: [], usual: [], fine: [], steps: new Map(), along: new WeakMap() };
    this.guesses = new Guesses(this);
    this.contrasts = facts.measured === "contrasts";
    const order = Math.max(...facts.tables.map((one) => one.length));
    const bits = Math.min(MOST_BITS, Math.floor(WHOLE_BITS / order));
    this.each = this.contrasts ? this.axes.map(({ cells }) => Contrasts.of(cells, bits)) : null;
    this.lay();
  }

  get records() {
    return this.residual([])[0];
  }

  get people() {
    return Math.max(this.records, 1);
  }

  /** Blocks of counters one after the other, and which of them tell each residual and each halving. */
  lay() {
    const { tables, measured, weights } = this.facts;
    const residuals = [...new Map(tables.flatMap(subsets).map((one) => [one.join(), one])).values()].sort(inOrder);
    const counted = measured === "cells" ? tables : this.contrasts ? residuals : residuals.slice(1);
    const kinds = counted.map((columns) => [columns, 0, productOf(columns.map((i) => this.axes[i].cells - Number(this.contrasts)))]);
    for (const [place] of residuals.filter(({ length }) => length === 1)) {
      const { cells, halvings } = this.axes[place];
      const steps = Math.max(1, halfEven(halvings / 4));
      const levels = Array.from({ length: this.contrasts ? halvings : steps }, (_, i) => (this.contrasts ? i + 1 : halfEven((halvings * (i + 1)) / steps)));
      for (const level of halvings ? new Set(levels) : []) kinds.push([[place], level, cells * 2 ** (level - Number(this.contrasts))]);
    }
    let start = 0;
    this.told = new Map(residuals.map((one) => [one.join(), []]));
    this.levels = this.axes.map(() => []);
    if (kinds.length !== weights.length) throw new ReaderError("The file states weights of other tables than its own.");
    kinds.forEach(([columns, level, length], k) => {
      const block = { columns, level, weight: weights[k], start, end: start + length };
      start += length;
      if (level) this.levels[columns[0]].push(block);
      if (this.contrasts && level) return;
      for (const which of this.contrasts ? [columns] : subsets(columns)) this.told.get(which.join()).push(block);
    });
    this.size = start;
  }

  /** Whether columns were measured together. */
  measured(places) {
    return this.told.has([...places].sort((a, b) => a - b).join());
  }

  precision(which, block) {
    const others = productOf(block.columns.filter((i) => !which.includes(i)).map((i) => this.axes[i].cells));
    return block.weight ** 2 / (others * 2 ** block.level);
  }

  /** s_R, the variance of a unit contrast of a residual. */
  variance(which) {
    const key = which.join();
    if (!this.kept.variances.has(key)) this.kept.variances.set(key, this.ownVariance(which));
    return this.kept.variances.get(key);
  }

  ownVariance(which) {
    const precision = total(this.told.get(which.join()).map((block) => this.precision(which, block)));
    const own = precision ? this.facts.variance / precision : Infinity;
    if (which.length) return own;
    const apart = this.facts.total === null ? Infinity : this.facts.totalVariance;
    return apart === 0 || own === 0 ? 0 : 1 / (1 / own + 1 / apart);
  }

  values(block) {
    return this.counters.subarray(block.start, block.end).map((value) => value / block.weight);
  }

  /** What a table of these columns adds to its margins. */
  residual(which) {
    const key = which.join();
    const kept = this.kept.residuals;
    if (!kept.has(key)) kept.set(key, this.read(which));
    return kept.get(key);
  }

  read(which) {
    /** @type {[number, Float64Array][]} */
    const known = this.told.get(which.join()).map((block) => {
      let values = this.values(block);
      if (this.contrasts) {
        const sides = which.map((i) => this.axes[i].cells - 1);
        which.forEach((place, side) => {
          values = eachLine(values, sides, side, this.axes[place].cells, (line) => this.each[place].back(line));
          sides[side] = this.axes[place].cells;
        });
      } else {
        if (block.level) values = summed(values, [values.length >> block.level, 1 << block.level], 1);
        const sides = block.columns.map((i) => this.axes[i].cells);
        block.columns.forEach((place, side) => {
          if (!which.includes(place)) [values, sides[side]] = [summed(values, sides, side), 1];
        });
        sides.forEach((cells, side) => {
          if (which.includes(block.columns[side])) values = eachLine(values, sides, side, cells, centred);
        });
      }
      return [this.precision(which, block), values];
    });
    const whole = total(known.map(([precision]) => precision));
    const found = new Float64Array(productOf(which.map((i) => this.axes[i].cells)));
    for (const [precision, values] of known) for (let i = 0; i < found.length; i++) found[i] += (precision / whole) * values[i];
    const before = which.length === 1 ? this.facts.found?.[which[0]] : null;
    if (before) {
      const own = apart(found, before.cells);
      centred(before.counts).forEach((count, i) => { found[before.cells[i]] += before.weight * (count - own[i]); });
    }
    if (which.length || this.facts.total === null) return found;
    if (this.facts.totalVariance === 0 || !known.length) return Float64Array.of(this.facts.total);
    const own = this.facts.variance / whole;
    const share = own / (own + this.facts.totalVariance);
    return Float64Array.of((1 - share) * found[0] + share * this.facts.total);
  }

  /** The estimated counts of a table whose columns are in order, one side a column. */
  counts(table) {
    const key = table.join();
    if (!this.kept.counts.has(key)) this.kept.counts.set(key, this.added(table));
    return this.kept.counts.get(key);
  }

  added(table) {
    const sides = table.map((i) => this.axes[i].cells);
    const found = new Float64Array(productOf(sides));
    for (const inside of subsets(table)) {
      const residual = this.residual(inside);
      const spread = found.length / residual.length;
      let [strides, stride] = [new Array(table.length).fill(0), 1];
      for (let side = table.length - 1; side >= 0; side--) {
        if (inside.includes(table[side])) [strides[side], stride] = [stride, stride * sides[side]];
      }
      const at = new Array(table.length).fill(0);
      for (let i = 0, from = 0; i < found.length; i++) {
        found[i] += residual[from] / spread;
        for (let side = table.length - 1; side >= 0; side--) {
          from += strides[side];
          if (++at[side] < sides[side]) break;
          from -= strides[side] * sides[side];
          at[side] = 0;
        }
      }
    }
    return found;
  }

  /** The blocks that tell a halving of a column, with their precisions for noise of variance 1. */
  telling(place, level) {
    return this.contrasts
      ? this.levels[place].filter((one) => one.level === level).map((block) => [block, block.weight ** 2])
      : this.levels[place].filter((one) => one.level >= level).map((block) => [block, block.weight ** 2 / 2 ** (block.level - level + 1)]);
  }

  halvingVariance(place, level) {
    return this.facts.variance / total(this.telling(place, level).map(([, precision]) => precision));
  }

  /** The estimated counts of the fine cells of a column. */
  fineCounts(place) {
    this.kept.fine[place] ??= this.halved(place);
    return this.kept.fine[place];
  }

  halved(place) {
    const { halvings } = this.axes[place];
    let found = this.counts([place]);
    for (let level = 1; level <= halvings; level++) {
      const [count, finer] = [found.length, new Float64Array(2 * found.length)];
      const told = this.telling(place, level);
      const whole = total(told.map(([, precision]) => precision));
      const more = new Float64Array(count);
      for (const [block, precision] of told) {
        let values = this.values(block);
        if (!this.contrasts) {
          values = summed(values, [2 * count, values.length / count / 2], 1);
          for (let i = 0; i < count; i++) more[i] += (precision / whole) * (values[2 * i] - values[2 * i + 1]);
        } else for (let i = 0; i < count; i++) more[i] += (precision / whole) * values[i];
      }
      for (let i = 0; i < count; i++) {
        finer[2 * i] = (found[i] + more[i]) / 2;
        finer[2 * i + 1] = (found[i] - more[i]) / 2;
      }
      found = finer;
    }
    return found;
  }

  /** V_i of a vector of weights: the sum of squares of its parts in the contrasts of an axis. */
  axisVariance(place, weights) {
    if (this.contrasts) return this.each[place].variance(weights);
    const mean = total(weights) / weights.length;
    let sum = 0;
    for (let i = 0; i < weights.length; i++) sum += (weights[i] - mean) ** 2;
    return sum;
  }

  /** V_i as the residual of the column alone has it, beside counts that were released before: `Noise.alone_variance`. */
  aloneVariance(place, weights) {
    const [plain, before] = [this.axisVariance(place, weights), this.facts.found?.[place]];
    if (!before) return plain;
    return Math.max(plain - before.weight * before.unit * apart(weights, before.cells).reduce((sum, one) => sum + one ** 2, 0), 0);
  }

  aloneSpread(place) {
    const [spread, before] = [this.axisSpread(place), this.facts.found?.[place]];
    if (!before) return spread;
    const found = spread.slice();
    for (const cell of before.cells) found[cell] -= before.weight * before.unit * (1 - 1 / before.cells.length);
    return found;
  }

  /** V_i of each single cell. */
  axisSpread(place) {
    const { cells } = this.axes[place];
    this.kept.spread[place] ??= filled(cells, (i) =>
      this.axisVariance(place, filled(cells, (j) => Number(i === j))));
    return this.kept.spread[place];
  }

  /** Sums of counts over cells with weights; a side for each kept column, in the order of the table. */
  summedOver(kept, conditions, counts = null) {
    const table = [...kept, ...Object.keys(conditions).map(Number)].sort((a, b) => a - b);
    const sides = table.map((place) => this.axes[place].cells);
    let found = counts ?? this.counts(table);
    table.forEach((place, side) => {
      if (place in conditions) [found, sides[side]] = [summed(found, sides, side, conditions[place]), 1];
    });
    return found;
  }

  /**
   * Sums of counts over cells with weights, and their standard errors; a side for each kept column, in their order.
   * @param {number[]} kept
   * @param {Conditions} conditions
   */
  weighted(kept, conditions) {
    const table = [...kept, ...Object.keys(conditions).map(Number)].sort((a, b) => a - b);
    const est = this.summedOver(kept, conditions);
    const parts = table.map((place) => (place in conditions
      ? [total(conditions[place]) / conditions[place].length, ...[this.axisVariance, this.aloneVariance].map((one) => Float64Array.of(one.call(this, place, conditions[place])))]
      : [1 / this.axes[place].cells, this.axisSpread(place), this.aloneSpread(place)]));
    const variance = new Float64Array(est.length);
    for (const inside of subsets(table)) {
      let term = Float64Array.of(this.variance(inside));
      table.forEach((place, side) => {
        const [mean, plain, alone] = parts[side];
        const own = inside.length === 1 ? alone : plain;
        term = outer(term, inside.includes(place) ? own : new Float64Array(own.length).fill(mean ** 2));
      });
      for (let i = 0; i < variance.length; i++) variance[i] += term[i];
    }
    if (kept.length === 2 && kept[0] > kept[1]) {
      const [rows, columns] = [...kept].reverse().map((place) => this.axes[place].cells);
      return { est: transposed(est, rows, columns), error: transposed(variance, rows, columns).map(Math.sqrt) };
    }
    return { est, error: variance.map(Math.sqrt) };
  }

  /** How many records fit, or are in every cell of the kept columns among them. */
  count(kept, conditions) {
    const { est, error } = this.weighted(kept, conditions);
    return this.banded(est, error);
  }

  banded(est, error) {
    const { reach, luck } = this.facts;
    if (!luck) return withEnds(est, error, (i) => [est[i] - reach * error[i], est[i] + reach * error[i]]);
    const wider = error.map((one, i) => Math.sqrt(one ** 2 + luckVariance(luck, est[i], est[i], this.people)));
    return withEnds(est, wider, (i) => luckEnds(luck, est[i], reach * error[i], this.people, 1));
  }

  /**
   * The share of each cell of some columns among the records that fit; NaN where too few are left to be told. What is
   * told are the nearest to the unbiased ones that are within their bands, not negative, and add up to 1.
   */
  shares(of, conditions) {
    const { reach, luck } = this.facts;
    const ones = Object.fromEntries(of.map((place) => [place, new Float64Array(this.axes[place].cells).fill(1)]));
    const alone = of.length === 1 ? of[0] : -1;
    const count = alone < 0 ? this.weighted(of, conditions) : this.cellsAlong(alone, conditions);
    const { est: [whole], error: [wholeError] } = alone < 0 ? this.weighted([], { ...conditions, ...ones }) : this.sumAlong(alone, conditions, ones[alone]);
    const divisor = whole > TOLD * wholeError ? whole : NaN;
    const variance = wholeError ** 2;
    const est = count.est.map((one) => one / divisor);
    const error = est.map((share, i) =>
      Math.sqrt(Math.max(count.error[i] ** 2 + share ** 2 * variance - (2 * share * variance) / est.length, 0)) / divisor);
    const wider = luck ? error.map((one, i) => Math.sqrt(one ** 2 + luckVariance(luck, est[i], est[i], 1) / divisor)) : error;
    const found = withEnds(est, wider, luck
      ? (i) => luckEnds(luck, est[i], reach * error[i], divisor, 1 / divisor)
      : (i) => [est[i] - reach * error[i], est[i] + reach * error[i]]);
    const [low, high] = [found.low, found.high].map((ends) => ends.map((one) => Math.min(Math.max(one, 0), 1)));
    return { ...found, low, high, est: nearestBetween(est, low, high, 1) };
  }

  /** Where in each cell of a column records lie on average, as its fine cells have them; the middle without any. */
  usualPlaces(place) {
    if (this.kept.usual[place]) return this.kept.usual[place];
    const axis = this.axes[place];
    const each = 1 << axis.halvings;
    const guess = this.guesses.fine(place);
    const { low, high } = this.sides(place, true);
    const middles = low.map((one, i) => (one + high[i]) / 2);
    this.kept.usual[place] = filled(axis.cells, (cell) => {
      let [sum, people, middle] = [0, 0, 0];
      for (let i = cell * each; i < (cell + 1) * each; i++) {
        people += guess[i];
        sum += guess[i] * middles[i];
        middle += middles[i] / each;
      }
      return people > 0 ? sum / people : middle;
    });
    return this.kept.usual[place];
  }

  /** The least and the greatest value of each cell, 0 of those who have none. */
  sides(place, fine) {
    const { edges, fineEdges, gap, cells, valued, halvings } = this.axes[place];
    const [all, count, many] = fine ? [fineEdges, valued << halvings, cells << halvings] : [edges, valued, cells];
    const [low, high] = [new Float64Array(many), new Float64Array(many)];
    for (let i = 0; i < count; i++) {
      high[i] = all[i + 1] - gap;
      low[i] = gap ? Math.min(all[i], high[i]) : all[i];
    }
    return { low, high };
  }

  ownCells(place) {
    const { cells, valued } = this.axes[place];
    return new Float64Array(cells).fill(1, 0, valued);
  }

  /** The mean of a column of numbers among the records that fit, in each cell of the kept columns. */
  mean(place, kept, conditions) {
    const { luck } = this.facts;
    const axis = this.axes[place];
    const fine = !kept.length && !Object.keys(conditions).length;
    const { low, high } = this.sides(place, fine);
    const own = fine ? new Float64Array(low.length).fill(1, 0, axis.valued << axis.halvings) : this.ownCells(place);
    const middles = fine ? low.map((one, i) => (one + high[i]) / 2) : this.usualPlaces(place);
    const sum = (weights) => (fine
      ? { est: Float64Array.of(dot(weights, this.fineCounts(place))), error: Float64Array.of(Math.sqrt(this.fineVariance(place, weights))) }
      : kept.length ? this.weighted(kept, { ...conditions, [place]: weights }) : this.sumAlong(place, conditions, weights));
    const all = sum(own);
    const count = all.est.map((one, i) => (one > TOLD * all.error[i] ? one : NaN));
    const over = (numbers) => sum(numbers.map((one, i) => one * own[i])).est.map((one, i) => one / count[i]);
    const unbiased = over(middles);
    const [first, last] = [axis.edges[0], axis.edges[axis.valued] - axis.gap];
    const aroundMean = (shift) => unbiased.map((mean, i) => {
      const around = middles.map((one, cell) => (one - mean - shift) * own[cell]);
      return sum(around).error[i] ** 2;
    });
    const error = aroundMean(0).map((one, i) => Math.sqrt(one) / count[i]);
    const { est, least, most, below, above } = fine
      ? this.meanOfAll(unbiased, count, [over(low), over(high)], aroundMean, last - first)
      : this.meanOfPart(place, kept, conditions, { own, middles, lengths: high.map((one, i) => one - low[i]), count, unbiased });
    const squares = luck ? over(middles.map((one) => one ** 2)) : null;
    const byLuck = luck ? est.map((mean, i) => luckVariance(luck, squares[i], mean, 1) / count[i]) : null;
    const [under, beyond] = [below, above].map((one) => one.map((far, i) => (luck ? Math.sqrt(far ** 2 + luck.square * byLuck[i]) : far)));
    const within = (value) => Math.min(Math.max(value, first), last);
    const wider = error.map((one, i) => (luck ? Math.sqrt(one ** 2 + byLuck[i]) : one));
    return withEnds(est.map(within), wider, (i) => [within(least[i] - under[i]), within(most[i] + beyond[i])]);
  }

  /** The mean of all, and how far below and above it may lie, by Fieller's rule as `ratios` has it. */
  meanOfAll(est, count, [least, most], aroundMean, unit) {
    const variances = [0, unit, -unit].map(aroundMean);
    const [below, above] = [1, -1].map((sign) => est.map((mean, i) => {
      const [a, plus, minus] = variances.map((one) => one[i]);
      const [b, c] = [(minus - plus) / 4, Math.max((plus + minus) / 2 - a, 0)];
      const square = this.facts.reach ** 2;
      const leading = (unit * count[i]) ** 2 - square * c;
      if (Number.isNaN(mean)) return NaN;
      const root = Math.sqrt(Math.max((square * b) ** 2 + leading * square * a, 0));
      return leading > 0 ? ((root + sign * square * b) / leading) * unit : Infinity;
    }));
    return { est, least, most, below, above };
  }

  /** The mean of each part by the best guess, and how far it may lie from it; see `ratios`. */
  meanOfPart(place, kept, conditions, { own, middles, lengths, count, unbiased }) {
    const everyone = this.guesses.of([place]).map((one, i) => one * own[i]);
    const people = Math.max(total(everyone), 1);
    const middle = dot(everyone, middles) / people;
    const inside = dot(everyone, lengths.map((one) => one ** 2)) / people / 12;
    const whole = dot(everyone, middles.map((one) => (one - middle) ** 2)) / people + inside;
    const guess = this.guesses.counted([...kept, place], conditions);
    const counts = kept.length ? this.weighted([...kept, place], conditions).est : this.along(place, conditions).counts;
    const { cells } = this.axes[place];
    const of = this.meant(conditions);
    const sides = kept.map((at) => this.axes[at].cells);
    const found = { est: unbiased.slice(), least: null, most: null, below: unbiased.slice(), above: unbiased.slice() };
    unbiased.forEach((mean, group) => {
      if (Number.isNaN(count[group])) return;
      const guessed = guess ? guess.subarray(group * cells, (group + 1) * cells).map((one, i) => one * own[i]) : null;
      const many = guessed ? total(guessed) : 0;
      const est = many > 0 ? dot(guessed, middles) / many : mean;
      const part = counts.subarray(group * cells, (group + 1) * cells);
      const size = Math.min(count[group] / people, 1);
      const chance = part.reduce((sum, one, i) => sum + Math.max(one, 0) * own[i] * lengths[i] ** 2, 0) * (1 - size) / 12;
      let left = group;
      const at = sides.map((side, i) => productOf(sides.slice(i + 1))).map((after) => { const cell = Math.floor(left / after); left %= after; return cell; });
      const others = [...of, ...kept.map((one, i) => [one, 1 / sides[i], this.axisSpread(one)[at[i]], this.aloneSpread(one)[at[i]]])];
      const facts = { x: middles, own, part, every: this.counts([place]), guess: this.guesses.of([place]), size, chance };
      const [low, high] = endsOfMean(this, place, others, facts, this.facts.reach);
      found.est[group] = est;
      found.below[group] = Math.max(est - low, 0);
      found.above[group] = Math.max(high - est, 0);
    });
    const off = found.est.map((mean) => (2 * Math.abs(mean - middle) * inside) / Math.max(whole, 1e-300));
    found.least = found.est.map((mean, i) => mean - off[i]);
    found.most = found.est.map((mean, i) => mean + off[i]);
    return found;
  }

  /** The variance of a sum of the fine cells of one column with weights. */
  fineVariance(place, weights) {
    const { halvings } = this.axes[place];
    let [sums, variance] = [weights, 0];
    for (let level = halvings; level > 0; level--) {
      const added = new Float64Array(sums.length / 2);
      let squares = 0;
      for (let i = 0; i < added.length; i++) {
        added[i] = sums[2 * i] + sums[2 * i + 1];
        squares += (sums[2 * i] - sums[2 * i + 1]) ** 2;
      }
      sums = added;
      variance += (this.halvingVariance(place, level) * squares) / 4 ** (halvings - level + 1);
    }
    return variance + this.coarseVariance(place, sums.map((one) => one / 2 ** halvings));
  }

  coarseVariance(place, weights) {
    const mean = total(weights) / weights.length;
    return this.variance([]) * mean ** 2 + this.variance([place]) * this.aloneVariance(place, weights);
  }

  /** The value below which a share of the records that fit lies: see `counts.quantiles`. */
  quantile(place, share, conditions) {
    const { reach, luck } = this.facts;
    const axis = this.axes[place];
    const fine = !Object.keys(conditions).length;
    const edges = fine ? axis.fineEdges : axis.edges;
    const [below, error] = fine ? this.fineBelow(place, share) : this.coarseBelow(place, share, conditions);
    let reaches = error.map((one) => reach * one);
    if (luck) {
      const squares = this.squaresBelow(place, share, conditions, fine);
      reaches = reaches.map((one, i) => Math.sqrt(one ** 2 + luck.square * luckVariance(luck, squares[i], below[i], this.people)));
    }
    const guess = fine ? null : this.guesses.counted([place], conditions);
    const course = guess ? belowEdges(guess.subarray(0, axis.valued), share) : rising(below);
    const [est, low, high] = crossing(edges, axis.gap, !axis.dated, below, reaches, course);
    return { est, low, high };
  }

  /**
   * A column among the records that fit: its counts, and what the variance of a sum of them with weights is made of,
   * parts that go with the square of the mean weight, and with its contrasts, with others and alone. Everything about
   * the column follows from it, so that a table is gone through once while somebody drags.
   */
  along(place, conditions) {
    if (!this.kept.along.has(conditions)) this.kept.along.set(conditions, new Map());
    const kept = this.kept.along.get(conditions);
    if (!kept.has(place)) {
      const { even, uneven, share } = this.spreadOver(place, this.meant(conditions));
      kept.set(place, { counts: this.summedOver([place], conditions), even: even + share ** 2 * this.variance([]), uneven, only: share ** 2 * this.variance([place]) });
    }
    return kept.get(place);
  }

  /** By column of conditions: its place, the mean weight, and V_i with others and alone. */
  meant(conditions) {
    return Object.entries(conditions).map(([at, weights]) => [Number(at), total(weights) / weights.length, this.axisVariance(Number(at), weights), this.aloneVariance(Number(at), weights)]);
  }

  /**
   * What other columns, as `meant` has them, add to the variance of a sum over a column's cells: by the square of its mean
   * weight and by its contrasts; and their share of all cells.
   */
  spreadOver(place, others) {
    let [even, uneven] = [0, 0];
    for (const inside of subsets(others.map(([at]) => at)).filter(({ length }) => length)) {
      const product = (own) => others.reduce((found, one) => found * (inside.includes(one[0]) ? one[own] : one[1] ** 2), 1);
      even += product(inside.length === 1 ? 3 : 2) * this.variance([...inside].sort((a, b) => a - b));
      uneven += product(2) * this.variance([...inside, place].sort((a, b) => a - b));
    }
    return { even, uneven, share: productOf(others.map(([, mean]) => mean)) };
  }

  cellsAlong(place, conditions) {
    const { counts, even, uneven, only } = this.along(place, conditions);
    const [spread, alone] = [this.axisSpread(place), this.aloneSpread(place)];
    return { est: counts, error: counts.map((_, i) => Math.sqrt(even / counts.length ** 2 + uneven * spread[i] + only * alone[i])) };
  }

  /** A sum of the cells of one column with weights, among the records that fit, and its standard error. */
  sumAlong(place, conditions, weights) {
    const { counts, even, uneven, only } = this.along(place, conditions);
    const mean = total(weights) / weights.length;
    return { est: Float64Array.of(dot(weights, counts)),
      error: Float64Array.of(Math.sqrt(even * mean ** 2 + uneven * this.axisVariance(place, weights) + only * this.aloneVariance(place, weights))) };
  }

  /** How many records lie below each edge less their share of all, T, and its standard error. */
  coarseBelow(place, share, conditions) {
    const { cells, valued } = this.axes[place];
    const { counts, even, uneven, only } = this.along(place, conditions);
    const key = `${place},${share}`;
    if (!this.kept.steps.has(key)) {
      this.kept.steps.set(key, Array.from({ length: valued + 1 }, (_, edge) => {
        const weights = filled(cells, (i) => (i < valued ? Number(i < edge) - share : 0));
        return [(total(weights) / cells) ** 2, this.axisVariance(place, weights), this.aloneVariance(place, weights)];
      }));
    }
    const error = Float64Array.from(this.kept.steps.get(key), ([mean, own, alone]) => Math.sqrt(even * mean + uneven * own + only * alone));
    return [belowEdges(counts.subarray(0, valued), share), error];
  }

  fineBelow(place, share) {
    const { cells, valued, halvings } = this.axes[place];
    const [counts, each, coarse] = [this.fineCounts(place).subarray(0, valued << halvings), 1 << halvings, new Float64Array(cells)];
    // The halvings add the same in every cell; what the coarse cells add is a parabola in each, which three places tell.
    const finely = new Float64Array(each);
    for (let level = 1; level <= halvings; level++) {
      const [own, whole] = [this.halvingVariance(place, level), 2 ** (halvings - level + 1)];
      for (let i = 0; i < each; i++) finely[i] += own * (Math.min(i % whole, whole - (i % whole)) / whole) ** 2;
    }
    const coarsely = filled(2 * valued + 1, (half) => {
      for (let i = 0; i < valued; i++) coarse[i] = Math.min(Math.max(half / 2 - i, 0), 1) - share;
      return this.coarseVariance(place, coarse);
    });
    const error = new Float64Array(counts.length + 1);
    for (let edge = 0; edge <= counts.length; edge++) {
      const cell = Math.min(Math.floor(edge / each), valued - 1);
      const [part, from, middle, to] = [edge / each - cell, coarsely[2 * cell], coarsely[2 * cell + 1], coarsely[2 * cell + 2]];
      const variance = from + part * (4 * middle - 3 * from - to) + 2 * part ** 2 * (from + to - 2 * middle);
      error[edge] = Math.sqrt(Math.max(variance, 0) + finely[edge % each]);
    }
    return [belowEdges(counts, share), error];
  }

  squaresBelow(place, share, conditions, fine) {
    const { valued, halvings } = this.axes[place];
    const counts = fine ? this.fineCounts(place).subarray(0, valued << halvings)
      : this.weighted([place], conditions).est.subarray(0, valued);
    const all = total(counts);
    const found = new Float64Array(counts.length + 1);
    for (let edge = 0, before = 0; edge <= counts.length; before += counts[edge++]) {
      found[edge] = before * (1 - share) ** 2 + (all - before) * share ** 2;
    }
    return found;
  }

  /** Cramér's V of two columns that were measured together, with its band; see `association.strengths`. */
  strength(one, other) {
    const [a, b] = [one, other].sort((x, y) => x - y);
    const [rows, columns] = [this.guesses.of([a]), this.guesses.of([b])];
    const records = Math.max(1, this.records);
    const sides = [rows.length, columns.length];
    const expected = outer(rows, columns).map((value) => value / records);
    const alone = outer(centred(rows), centred(columns)).map((value) => value / records); // what e adds to its margins
    const residual = this.residual([a, b]);
    const [rowSpread, columnSpread] = [a, b].map((i) => total(this.axisSpread(i)) / this.axes[i].cells);
    const noise = this.variance([a, b]) * rowSpread * columnSpread;
    const free = (1 - 1 / sides[0]) * (1 - 1 / sides[1]);
    const least = Math.max(1, Math.sqrt(noise)) / records;
    let [found, moved] = [0, 0];
    for (let i = 0; i < expected.length; i++) {
      const divisor = Math.max(expected[i], records * least);
      const square = (residual[i] - alone[i]) ** 2;
      const chance = noise + (this.facts.luck ? this.facts.luck.design * Math.max(expected[i], 0) * free : 0);
      found += (square - chance) / divisor;
      moved += (2 * chance ** 2 + 4 * chance * Math.max(square - chance, 0)) / divisor ** 2;
    }
    const reach = this.facts.reach * Math.sqrt(moved / free);
    const cramer = (value) => Math.sqrt(Math.min(1, Math.max(0, value / (records * (Math.min(...sides) - 1)))));
    return { columns: [a, b], est: cramer(found), low: cramer(found - reach), high: cramer(found + reach) };
  }

  /** Every two columns that were measured together. */
  get pairs() {
    return [...this.told.keys()].map((key) => key.split(",").map(Number)).filter(({ length }) => length === 2);
  }

  /** Every pair that was measured, the surely strongest first. */
  strengths() {
    return strongestFirst(this.pairs.map(([one, other]) => this.strength(one, other)));
  }
}

export const strongestFirst = (strengths) => strengths.sort((a, b) => b.low - a.low || b.est - a.est);

const MOST_TABLES = 20000, MOST_TOGETHER = 6;

/** A file of tables: what is measured of which. It is asked by `of`, and not place by place. */
export class TableSketch {
  constructor({ bins, halvings, tables, measured, weights, edges }, domain) {
    const listed = Array.isArray(tables) && tables.length >= 1 && tables.length <= MOST_TABLES && Array.isArray(weights);
    if (!listed || !["contrasts", "cells", "margins"].includes(measured)) throw new ReaderError("The file states tables that no release has.");
    this.domain = domain;
    this.answers = "tables";
    this.facts = { axes: axesOf(domain.columns, { bins, halvings, edges }), tables, measured, weights, found: {}, luck: null };
    const known = (table) => Array.isArray(table) && table.length <= MOST_TOGETHER && table.every((place, i) => place in this.facts.axes && (!i || table[i - 1] < place));
    if (!tables.every(known)) throw new ReaderError("The file states tables that no release has.");
    this.shape = [this.of(new Float64Array(0), 1).size];
  }

  /** The tables of counters, with what else is known of them. */
  of(counters, variance, known = {}) {
    return new Tables({ ...this.facts, variance, total: null, totalVariance: Infinity, reach: normalQuantile(0.975), ...known }, counters);
  }

  encode() {
    throw new ReaderError("Tables are asked for counts, by `tables`, and not at places.");
  }

  total(counters) {
    return this.of(counters, 1).records;
  }

  totalVariance(variance) {
    return this.of(new Float64Array(0), variance).variance([]);
  }
}
