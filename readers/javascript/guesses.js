// The best guess of released tables: not negative, in agreement with each other, of any columns; see `best_guess`.

import { filled, inOrder, productOf, subsets, total, transposed } from "./arrays.js";
/** @import { Tables } from "./tables.js" */

const POWERS = [1, 1.5, 2];
const STRENGTHS = Array.from({ length: 28 }, (_, i) => 10 ** (-5 + (9 * i) / 27));
const ROUNDS = 15, FITTINGS = 60, CLOSE = 1e-6, MOST_GUESSED = 1 << 20, CLEARLY = 1.5, NEGLIGIBLE = 1e-6;

/** The nearest numbers that are not negative and have this sum. */
export const nearestWithTotal = (values, sum) => {
  let [added, lowered] = [0, 0];
  new Float64Array(values).sort().reverse().forEach((value, i) => {
    added += value;
    const tried = (added - sum) / (i + 1);
    if (value >= tried) lowered = tried;
  });
  return values.map((value) => Math.max(value - lowered, 0));
};

/** How much more differences vary in each cell than in others, 1 on average. */
const cellSpread = (wanted, power) => {
  const spread = wanted.map((one) => Math.max(one, 0) ** power + 1e-12);
  const mean = total(spread) / spread.length;
  return spread.map((one) => one / mean);
};

/**
 * Noisy counts moved towards what may be expected, and the variance that is left in each cell. The second expectation
 * makes them too likely by `fitted`, as logarithms; `common` says how common each way is, else the likeliest is gone.
 */
const towards = (found, expected, variance, fitted = 0, common = null) => {
  if (!(variance > 0)) return [found, new Float64Array(found.length).fill(1)];
  const ways = expected.flatMap((wanted, which) => POWERS.flatMap((power) => {
    const spread = cellSpread(wanted, power);
    return STRENGTHS.map((strength) => ({ which, spread, strength }));
  }));
  const logs = ways.map(({ which, spread, strength }) => {
    let sum = 0;
    for (let i = 0; i < spread.length; i++) {
      const one = 1 + strength * spread[i];
      sum += Math.log(one) + (found[i] - expected[which][i]) ** 2 / variance / one;
    }
    return -0.5 * sum - (which ? fitted : 0);
  });
  const most = Math.max(...logs);
  const [moved, kept] = [new Float64Array(found.length), new Float64Array(found.length)];
  if (most === -Infinity) return [found, kept]; // as noise is far less than any number's own rounding
  const weights = logs.map((one, k) => (common ? Math.exp(one - most) * common[k] : Number(one === most)));
  const whole = total(weights);
  ways.forEach(({ which, spread, strength }, k) => {
    const weight = weights[k] / whole;
    if (weight < 1e-15) return;
    for (let i = 0; i < found.length; i++) {
      const own = weight > NEGLIGIBLE ? (weight * strength * spread[i]) / (1 + strength * spread[i]) : 0;
      moved[i] += weight * expected[which][i] + own * (found[i] - expected[which][i]);
      kept[i] += own * variance;
    }
  });
  return [moved, kept];
};

/** By cell of an array, the cell of a margin that it is in. */
const marginOf = (sides, kept) => {
  const found = new Int32Array(productOf(sides));
  const at = new Array(sides.length).fill(0);
  for (let i = 0; i < found.length; i++) {
    let place = 0;
    for (const side of kept) place = place * sides[side] + at[side];
    found[i] = place;
    for (let side = sides.length - 1; side >= 0 && ++at[side] === sides[side]; side--) at[side] = 0;
  }
  return found;
};

const addedUp = (values, margin, length) => {
  const found = new Float64Array(length);
  for (let i = 0; i < values.length; i++) found[margin[i]] += values[i];
  return found;
};

/** Values made to have margins by factors, from the first margin to the last. */
const scaledTo = (values, margins, each = null) => {
  for (const [margin, wanted] of margins) {
    const have = addedUp(values, margin, wanted.length);
    each?.(have, wanted);
    for (let i = 0; i < values.length; i++) values[i] *= have[margin[i]] > 0 ? wanted[margin[i]] / have[margin[i]] : 0;
  }
  return values;
};

/** Values without negative ones and with these margins, moved in proportion to how uncertain they are. */
const movedTo = (found, variances, margins) => {
  const values = found.map((one) => Math.max(one, 0));
  const mean = total(variances) / variances.length;
  const uncertain = variances.map((one) => one + 1e-9 * (mean + 1));
  const rooms = margins.map(([margin, wanted]) => addedUp(uncertain, margin, wanted.length));
  for (let round = 0; round < ROUNDS; round++) {
    margins.forEach(([margin, wanted], m) => {
      const have = addedUp(values, margin, wanted.length);
      for (let i = 0; i < values.length; i++) {
        const at = margin[i];
        values[i] = Math.max(values[i] + uncertain[i] * ((wanted[at] - have[at]) / rooms[m][at]), 0);
      }
    });
  }
  return scaledTo(values, margins);
};

/** What two columns tell of each other, in natural units, by the counts of their cells. */
const mutualInformation = (counts, columns) => {
  const whole = total(counts), rows = counts.length / columns;
  const [ofRow, ofColumn] = [new Float64Array(rows), new Float64Array(columns)];
  counts.forEach((one, i) => { ofRow[Math.floor(i / columns)] += one; ofColumn[i % columns] += one; });
  return counts.reduce((sum, one, i) => sum + (one > 0 ? (one / whole) * Math.log((one * whole) / (ofRow[Math.floor(i / columns)] * ofColumn[i % columns])) : 0), 0);
};

/** What is most likely of the tables of a release; kept, as all of them are asked again and again. */
export class Guesses {
  axes; kept; tables; beside; once;

  /** @param {Tables} tables */
  constructor(tables) {
    Object.assign(this, { tables, axes: tables.axes, kept: new Map() });
  }

  /** The guessed counts of any set of columns in order, one side a column; null where they would be too many. */
  of(table) {
    const key = table.join();
    if (!this.kept.has(key)) this.kept.set(key, this.guessed(table));
    return this.kept.get(key);
  }

  guessed(table) {
    const sides = table.map((i) => this.axes[i].cells);
    if (productOf(sides) > MOST_GUESSED) return null;
    if (!table.length) return Float64Array.of(Math.max(1, this.tables.records));
    if (table.length === 1) return nearestWithTotal(this.tables.counts(table), Math.max(1, this.tables.records));
    if (!this.tables.measured(table)) {
      const path = table.length === 2 ? this.path(...table) : [];
      return path.length ? this.along(path) : this.fitted(table, this.toldParts(table));
    }
    const margins = table.map((_, side) => table.filter((_, other) => other !== table.length - 1 - side));
    let variance = 0;
    for (const inside of subsets(table)) {
      variance += table.reduce((product, place) => product * (inside.includes(place)
        ? total(inside.length === 1 ? this.tables.aloneSpread(place) : this.tables.axisSpread(place)) / this.axes[place].cells : (1 / this.axes[place].cells) ** 2), this.tables.variance(inside));
    }
    const expected = this.fitted(table, margins), found = this.tables.counts(table);
    const square = total(found.map((one, i) => (one - expected[i]) ** 2)) / found.length;
    if (this.joinedOnce() && square > CLEARLY * variance && variance > 0) {
      return movedTo(nearestWithTotal(found, Math.max(1, this.tables.records)), new Float64Array(found.length).fill(1), this.marginsOf(table, margins));
    }
    const { fitted = 0, common = null } = this.tables.facts.together ?? {};
    const numbers = productOf(table.map((i) => this.axes[i].cells - 1));
    const [shrunk, uncertain] = towards(found, [expected, ...this.beyond(table, expected)], variance, fitted * numbers, table.length === 2 ? common : null);
    return movedTo(shrunk, uncertain, this.marginsOf(table, margins));
  }

  /** Whether the measured pairs of three columns or more make no circle, and nothing else was measured. */
  joinedOnce() {
    const part = this.axes.map((_, place) => place);
    this.once ??= this.tables.pairs.length > 1 && [...this.tables.told.keys()].every((key) => key.split(",").length < 3)
      && this.tables.pairs.every(([one, other]) => {
        const joined = part[other];
        if (part[one] === joined) return false;
        part.forEach((name, place) => { if (name === joined) part[place] = part[one]; });
        return true;
      });
    return this.once;
  }

  /** What a pair is expected to be where all columns hang together along a few directions; nothing where there are none. */
  beyond(table, expected) {
    const { lengths = [], entries = {} } = this.tables.facts.together ?? {};
    const [one, other] = table.map((place) => entries[place]);
    if (table.length !== 2 || !lengths.length || !one || !other) return [];
    const along = (i) => lengths.reduce((sum, length, k) => sum + length * one[Math.floor(i / other.length)][k] * other[i % other.length][k], 0);
    return [expected.map((value, i) => Math.max(value + along(i), 0))];
  }

  marginsOf(table, margins) {
    const sides = table.map((i) => this.axes[i].cells);
    return margins.map((margin) => [marginOf(sides, margin.map((i) => table.indexOf(i))), this.of(margin)]);
  }

  /** The largest sets of these columns that were measured together. */
  measuredParts(table) {
    const known = subsets(table).filter((one) => one.length && this.tables.measured(one));
    const parts = known.filter((one) => !known.some((other) => other.length > one.length && one.every((i) => other.includes(i))));
    return parts.sort(inOrder);
  }

  /** The same, and those pairs of them that others join. */
  toldParts(table) {
    const pairs = table.length > 2 ? subsets(table).filter((one) => one.length === 2) : [];
    const joined = pairs.filter((pair) => !this.tables.measured(pair) && this.path(...pair).length);
    const parts = [...this.measuredParts(table), ...joined];
    return parts.filter((one) => !parts.some((other) => other.length > one.length && one.every((i) => other.includes(i)))).sort(inOrder);
  }

  /** By column, those that the measured pairs which tell most join it to, without any circle. */
  tree() {
    if (this.beside) return this.beside;
    this.beside = this.axes.map(() => []);
    const part = this.axes.map((_, place) => place);
    const told = this.tables.pairs.map((pair) => [Number(mutualInformation(this.of(pair), this.axes[pair[1]].cells).toFixed(9)), pair]);
    for (const [, [one, other]] of told.sort(([a, pair], [b, next]) => b - a || inOrder(pair, next))) {
      if (part[one] === part[other]) continue;
      this.beside[one].push(other);
      this.beside[other].push(one);
      const joined = part[other];
      part.forEach((name, place) => { if (name === joined) part[place] = part[one]; });
    }
    return this.beside;
  }

  /** The columns from one to another along the tree; none where nothing joins them. */
  path(one, other) {
    const before = new Map([[one, [one]]]);
    for (const [place, path] of before) { // grows on the way
      for (const beside of this.tree()[place]) if (!before.has(beside)) before.set(beside, [...path, beside]);
    }
    return before.get(other) ?? [];
  }

  /** The table of the ends of a path, on which each column says of the next what their pair does. */
  along(path) {
    const sides = path.map((place) => this.axes[place].cells);
    const [rows] = sides;
    let found = new Float64Array(rows * rows);
    this.of([path[0]]).forEach((one, i) => { found[i * rows + i] = one; });
    for (let step = 1; step < path.length; step++) {
      const [middle, columns] = [sides[step - 1], sides[step]];
      const pair = this.counted([path[step - 1], path[step]], {});
      const next = new Float64Array(rows * columns);
      for (let j = 0; j < middle; j++) {
        const row = pair.subarray(j * columns, (j + 1) * columns), whole = total(row);
        if (!(whole > 0)) continue;
        for (let i = 0; i < rows; i++) for (let k = 0; k < columns; k++) next[i * columns + k] += (found[i * middle + j] * row[k]) / whole;
      }
      found = next;
    }
    return path[0] < path.at(-1) ? found : transposed(found, sides.at(-1), rows);
  }

  /** The most even table with guessed margins. */
  fitted(table, margins) {
    const values = new Float64Array(productOf(table.map((i) => this.axes[i].cells))).fill(1);
    const given = this.marginsOf(table, margins);
    const overlapping = total(margins.map(({ length }) => length)) > table.length;
    for (let round = 0; round < (overlapping ? FITTINGS : 1); round++) {
      let off = 0;
      scaledTo(values, given, (have, wanted) => have.forEach((one, i) => { off = Math.max(off, Math.abs(one - wanted[i])); }));
      if (off <= CLOSE * Math.max(1, this.tables.records)) break;
    }
    return values;
  }

  /** Guessed counts over the cells of one column, or none, of the records that fit. */
  counted(kept, conditions) {
    const guess = this.of([...kept, ...Object.keys(conditions).map(Number)].sort((a, b) => a - b));
    if (!guess) return null;
    const found = this.tables.summedOver(kept, conditions, guess);
    const [columns, rows] = kept.map((place) => this.axes[place].cells);
    return kept.length === 2 && kept[0] > kept[1] ? transposed(found, rows, columns) : found;
  }

  fine(place) {
    const { fineEdges, cells, valued, halvings } = this.axes[place];
    const coarse = this.of([place]);
    if (!halvings) return coarse;
    const fine = cells << halvings;
    const width = filled(fine, (i) => (i < valued << halvings ? fineEdges[i + 1] - fineEdges[i] : 1));
    const margin = Int32Array.from({ length: fine }, (_, i) => i >> halvings);
    const whole = addedUp(width, margin, cells);
    const even = width.map((one, i) => (coarse[margin[i]] * one) / whole[margin[i]]);
    const unit = new Float64Array(fine);
    unit[0] = 1;
    const [shrunk, uncertain] = towards(this.tables.fineCounts(place), [even], this.tables.fineVariance(place, unit));
    return movedTo(shrunk, uncertain, [[margin, coarse]]);
  }
}
