// Sums of distances: column by column, straight-line ones along random directions, squared ones, and cosines.
import { ReaderError } from "./archive.js";
import { dot, filled, total } from "./arrays.js";
import { AskedAtPlaces, Domain } from "./columns.js";
import { projectionOf } from "./hashed.js";
import { directions, groupedUniforms, onGrid, orthonormal, seedOf, uniformsForDirection } from "./random.js";
import { logGamma, normalQuantile, studentQuantile } from "./special.js";

const PLACES = 1 << 16, CATEGORY_UNIT = 1 << 12, SHARES_TRIED = 64, QUERIES_PER_CELL = 8, MOST_NODES = 512, UNITS = 2 ** 30;
const GAUSS = [[-0.932469514203152, 0.171324492379170], [-0.661209386466265, 0.360761573048139], [-0.238619186083197, 0.467913934572691],
  [0.238619186083197, 0.467913934572691], [0.661209386466265, 0.360761573048139], [0.932469514203152, 0.171324492379170]];

/** How far a record is from a query along a coordinate, with its first and second antiderivative. */
const profileNamed = (norm) => {
  const [kind, text] = String(norm).split(":");
  const number = Number(text);
  if (kind === "l1" || (kind === "lp" && number > 0 && number <= 16)) {
    const p = kind === "l1" ? 1 : number;
    const value = (u) => (p === 1 ? Math.abs(u) : Math.abs(u) ** p);
    const first = (u) => (u * value(u)) / (p + 1);
    return { value, first, straight: p === 1, second: (u) => (u * first(u)) / (p + 2), stretched: (length) => [profileNamed(norm), length ** p], apart: (d) => d ** p };
  }
  if (kind === "capped" && number > 0) {
    const value = (u) => Math.min(Math.abs(u), number);
    const beyond = (u) => Math.abs(u) - value(u);
    return { value, first: (u) => Math.sign(u) * (value(u) ** 2 / 2 + number * beyond(u)),
      second: (u) => value(u) ** 3 / 6 + (number * beyond(u) * (number + beyond(u))) / 2,
      stretched: (length) => [profileNamed(`capped:${number / length}`), length], apart: (d) => Math.min(d, number) };
  }
  if (kind === "above" || kind === "below") {
    const value = (u) => Math.max(kind === "above" ? u : -u, 0);
    const first = (u) => (u * value(u)) / 2;
    return { value, first, second: (u) => (u * first(u)) / 3, stretched: (length) => [profileNamed(norm), length] };
  }
  throw new ReaderError("The file has a distance that this reader does not know; a newer one may.");
};

/** Integrals over [0, 1] of the profile around a place times each hat of a grid. */
const innerProducts = (profile, cells, place) => {
  const products = new Float64Array(cells + 1);
  if (place < -1 || place > 2) { // differences of antiderivatives would lose their digits
    for (let k = 0; k < cells; k++) {
      for (const [node, weight] of GAUSS) {
        const point = (node + 1) / 2;
        const value = (weight / 2 / cells) * profile.value(k / cells - place + point / cells);
        products[k + 1] += point * value;
        products[k] += (1 - point) * value;
      }
    }
    return products;
  }
  let [first, second] = [profile.first(-place), profile.second(-place)];
  for (let k = 0; k < cells; k++) {
    const u = (k + 1) / cells - place;
    const [nextFirst, nextSecond] = [profile.first(u), profile.second(u)];
    const mean = (nextSecond - second) * cells;
    products[k + 1] += nextFirst - mean;
    products[k] += mean - first;
    [first, second] = [nextFirst, nextSecond];
  }
  return products;
};

/** Solves G y = values, G the integrals over [0, 1] of products of two hats. */
const solveGram = (values) => {
  const last = values.length - 1;
  const [off, pivots, found] = [1 / (6 * last), new Float64Array(last + 1), new Float64Array(values)];
  for (let i = 0; i <= last; i++) {
    const diagonal = (i === 0 || i === last ? 1 : 2) / (3 * last);
    pivots[i] = diagonal - (i ? (off * off) / pivots[i - 1] : 0);
    if (i) found[i] -= (off / pivots[i - 1]) * found[i - 1];
  }
  for (let i = last; i >= 0; i--) found[i] = (found[i] - (i < last ? off * found[i + 1] : 0)) / pivots[i];
  return found;
};

/** What is measured of the masses at the nodes of a grid, and how they are estimated from it. */
class Strategy {
  constructor({ top, hats = [] }) {
    const nodes = top?.[0]?.length;
    if (!(nodes >= 2 && nodes <= 65 && top.length <= 130 && hats.length <= 6 && (nodes - 1) * 2 ** hats.length <= MOST_NODES)) {
      throw new ReaderError("The file states measurements that no release has.");
    }
    const scale = 2 ** hats.length;
    this.levels = hats.length;
    this.cells = (nodes - 1) * scale;
    const fine = Array.from({ length: this.cells + 1 }, (_, i) => i);
    this.rows = top.map((row) => fine.map((i) => total(row.map((entry, node) => entry * Math.max(0, scale - Math.abs(i - scale * node))))));
    hats.forEach((weight, level) => {
      const half = scale / 2 ** (level + 1);
      for (let middle = half; middle < this.cells; middle += 2 * half) {
        this.rows.push(fine.map((i) => weight * (scale / half) * Math.max(0, half - Math.abs(i - middle))));
      }
    });
    const [size, count] = [this.rows.length, this.cells + 1];
    const entries = Float64Array.from(this.rows.flat());
    const q = orthonormal(entries, size, count);
    // A = QR, so the least squares estimate is R^-1 Q^T: one row a node, from the last one up.
    this.estimator = Array.from({ length: count }, () => null);
    const r = (i, j) => q[i].reduce((sum, one, k) => sum + one * entries[k * count + j], 0);
    for (let i = count - 1; i >= 0; i--) {
      const own = new Float64Array(q[i]);
      for (let j = i + 1; j < count; j++) {
        const factor = r(i, j);
        for (let k = 0; k < size; k++) own[k] -= factor * this.estimator[j][k];
      }
      const pivot = r(i, i);
      this.estimator[i] = own.map((one) => one / pivot);
    }
    this.covariance = this.estimator.map((one) => filled(this.estimator.length, (i) => dot(one, this.estimator[i])));
  }

  masses(table, scale) {
    return filled(this.estimator.length, (i) => dot(this.estimator[i], table) / scale);
  }

  /** Covariance of the node values of the estimated density, for noise of variance 1. */
  get densityCovariance() {
    if (!this.ofDensity) {
      const once = this.covariance.map(solveGram); // it is symmetric: its rows are its columns
      this.ofDensity = once.map((_, i) => solveGram(once.map((row) => row[i])));
    }
    return this.ofDensity;
  }
}

/** Mean squares of what the closest spline misses: of evenly spread records and queries, and at the query itself. */
const missedBy = (profile, cells) => {
  /** @type {(count: number) => [number, Float64Array][]} */
  const splineAt = (count) => Array.from({ length: count }, (_, i) => [(i + 0.5) / count, solveGram(innerProducts(profile, cells, (i + 0.5) / count))]);
  let even = 0;
  const few = splineAt(QUERIES_PER_CELL * Math.min(cells, 32));
  for (let eighth = 0; eighth < 8; eighth++) {
    const part = (eighth + 0.5) / 8;
    let sum = 0;
    for (const [query, spline] of few) {
      for (let k = 0; k < cells; k++) sum += ((1 - part) * spline[k] + part * spline[k + 1] - profile.value((k + part) / cells - query)) ** 2;
    }
    even += sum / few.length / cells / 8;
  }
  const tried = splineAt(QUERIES_PER_CELL * cells).map(([query, spline], i) => {
    const own = Math.floor(i / QUERIES_PER_CELL);
    const part = query * cells - own;
    return ((1 - part) * spline[own] + part * spline[own + 1] - profile.value(0)) ** 2;
  });
  return { even, atQuery: total(tried) / tried.length };
};

/** A number between bounds, measured by a strategy. */
class NumericBlock {
  factor; length; low; place; profile; strategy;

  constructor(place, low, length, norm, strategy, weight, missed) {
    [this.profile, this.factor] = profileNamed(norm).stretched(length);
    Object.assign(this, { place, low, length, strategy, weight });
    this.rows = strategy.rows.length;
    this.scale = weight * (PLACES / 2 ** strategy.levels);
    this.gain = 1 / this.scale ** 2;
    this.missed = missed(this.profile, strategy.cells, `${norm} ${norm.startsWith("capped") ? length : ""}`);
    this.rounding = this.factor ** 2 * this.missed.even;
    this.totalVariance = this.gain * total(strategy.covariance.map(total));
    this.densities = new WeakMap();
  }

  read(table, { count, coordinates }, withErrors) {
    if (!this.densities.has(table.buffer)) this.densities.set(table.buffer, new Map());
    const kept = this.densities.get(table.buffer);
    if (!kept.has(table.byteOffset)) {
      const masses = this.strategy.masses(table, this.scale);
      const density = solveGram(masses);
      kept.set(table.byteOffset, { masses, density, sums: this.profile.straight && this.sumsAtNodes(density) });
    }
    const { masses, density, sums } = kept.get(table.byteOffset);
    const { cells } = this.strategy;
    const found = [0, 1, 2, 3].map(() => new Float64Array(count));
    const known = new Map();
    for (let i = 0; i < count; i++) {
      const place = (coordinates[this.place][i] - this.low) / this.length;
      if (!withErrors && sums) {
        found[0][i] = this.factor * this.sumAt(place, density, sums);
        found[3][i] = this.factor * this.heapAt(place, masses)[1] * Math.sqrt(this.missed.atQuery);
        continue;
      }
      if (!known.has(place)) known.set(place, this.at(place, masses, density, cells, withErrors));
      known.get(place).forEach((one, k) => { found[k][i] = one; });
    }
    return found;
  }

  at(place, masses, density, cells, withErrors) {
    const products = innerProducts(this.profile, cells, place);
    let [estimate, variance] = [0, 0];
    for (let k = 0; k <= cells; k++) estimate += products[k] * density[k];
    if (withErrors) {
      const covariance = this.strategy.densityCovariance;
      for (let k = 0; k <= cells; k++) {
        let along = 0;
        for (let l = 0; l <= cells; l++) along += covariance[k][l] * products[l];
        variance += products[k] * along;
      }
    }
    const [beside, heaped] = this.heapAt(place, masses);
    return [this.factor * estimate, this.factor ** 2 * this.gain * variance, this.factor ** 2 * beside ** 2 * this.missed.atQuery,
      this.factor * heaped * Math.sqrt(this.missed.atQuery)];
  }

  /** The masses of the two nodes beside a place, and those beyond what lies one node further out. */
  heapAt(place, masses) {
    if (!(place >= 0 && place <= 1)) return [0, 0];
    const node = Math.min(Math.floor(place * (masses.length - 1)), masses.length - 2);
    const beside = masses[node] + masses[node + 1];
    return [beside, beside - (masses[node - 1] ?? 0) - (masses[node + 2] ?? 0)];
  }

  /** Sums of absolute distances at the nodes, and how they rise there: between two nodes the sum is a cubic. */
  sumsAtNodes(density) {
    const cells = density.length - 1;
    const sums = density.map((_, k) => innerProducts(this.profile, cells, k / cells).reduce((sum, one, l) => sum + one * density[l], 0));
    const below = new Float64Array(cells + 1);
    for (let k = 0; k < cells; k++) below[k + 1] = below[k] + (density[k] + density[k + 1]) / 2 / cells;
    return [sums, below.map((one) => 2 * one - below[cells])];
  }

  sumAt(place, density, [sums, slopes]) {
    const cells = density.length - 1;
    if (place <= 0) return sums[0] + slopes[0] * place;
    if (place >= 1) return sums[cells] + slopes[cells] * (place - 1);
    const node = Math.min(Math.floor(place * cells), cells - 1);
    const t = place - node / cells;
    return sums[node] + t * (slopes[node] + t * (density[node] + (t * cells * (density[node + 1] - density[node])) / 3));
  }

  total(table) {
    return total(this.strategy.masses(table, this.scale));
  }
}

/** One of K categories: the count of all and of each, in shares of the least variance. */
class CategoryBlock {
  a; b; count; distance; place; weight;

  constructor(place, count, distance, weight) {
    Object.assign(this, { place, count, distance, weight, rows: count + 1, rounding: 0 });
    this.gain = 1 / (weight * PLACES) ** 2;
    const step = CATEGORY_UNIT / SHARES_TRIED;
    const tried = Array.from({ length: SHARES_TRIED }, (_, i) => [step * i, CATEGORY_UNIT - step * i]);
    const variances = tried.map((shares) => this.unitVariance(...shares));
    [this.a, this.b] = tried[variances.indexOf(Math.min(...variances))];
    this.variance = distance ** 2 * this.gain * Math.min(...variances);
    this.totalVariance = (this.gain * count) / (this.b ** 2 + count * this.a ** 2);
  }

  pull(a, b) {
    return (a * a) / (b * b + this.count * a * a);
  }

  unitVariance(a, b) {
    const others = this.count - 1;
    return (others - this.pull(a, b) * others ** 2) / (b * b);
  }

  counts(table) {
    const right = Array.from(table.subarray(1), (one) => this.b * one + this.a * table[0]);
    const all = total(right);
    return right.map((one) => (one - this.pull(this.a, this.b) * all) / this.b ** 2 / (this.weight * PLACES));
  }

  read(table, { count, coordinates }) {
    const counts = this.counts(table);
    const all = total(counts);
    const estimate = filled(count, (i) => {
      let best = 0;
      for (let c = 1; c < this.count; c++) if (coordinates[this.place + c][i] > coordinates[this.place + best][i]) best = c;
      return this.distance * (all - counts[best]);
    });
    return [estimate, new Float64Array(count).fill(this.variance), new Float64Array(count), new Float64Array(count)];
  }

  total(table) {
    return total(this.counts(table));
  }
}

const withNormal = (estimate, variances, level) => {
  const [error, reach] = [variances.map(Math.sqrt), normalQuantile(0.5 + level / 2)];
  return { estimate, error, reach: error.map((one) => reach * one) };
};

export class Distance extends AskedAtPlaces {
  constructor({ norm = "l1", strategy, weights }, domain) {
    super();
    Object.assign(this, { domain, answers: "distance", metric: "l1" });
    const [low, high] = domain.bounds("l1");
    const made = new Strategy(strategy);
    const known = new Map();
    const missed = (profile, cells, key) => {
      if (!known.has(key)) known.set(key, missedBy(profile, cells));
      return known.get(key);
    };
    this.blocks = domain.columns.flatMap((column, c) => {
      const first = domain.starts[c];
      if (column.isScalar || column.kind === "vector") {
        return Array.from({ length: column.width }, (_, k) => new NumericBlock(first + k, low[first + k], high[first + k] - low[first + k], norm, made, weights[c], missed));
      }
      return [new CategoryBlock(first, column.width, profileNamed(norm).apart(domain.facts.category_distance ?? 1), weights[c])];
    });
    this.starts = this.blocks.map((_, b) => total(this.blocks.slice(0, b).map(({ rows }) => rows)));
    this.shape = [total(this.blocks.map(({ rows }) => rows))];
    this.rounding = total(this.blocks.map(({ rounding }) => rounding));
  }

  tableOf(table, b) {
    return table.subarray(this.starts[b], this.starts[b] + this.blocks[b].rows);
  }

  /** Estimates, variances for noise of variance 1, and what the grid misses, as squares and in heaps. */
  readAt(table, points, withErrors) {
    const found = [0, 1, 2, 3].map(() => new Float64Array(points.count));
    this.blocks.forEach((block, b) => block.read(this.tableOf(table, b), points, withErrors).forEach((part, k) => {
      for (let i = 0; i < points.count; i++) found[k][i] += part[i];
    }));
    return found;
  }

  answer(table, records, points, variance, level) {
    const [estimate, variances, missed] = this.readAt(table, points, true);
    return withNormal(estimate, variances.map((one, i) => variance * one + missed[i] + Math.max(records, 0) ** 2 * this.rounding), level);
  }

  total(table) {
    const precisions = this.blocks.map(({ totalVariance }) => 1 / totalVariance);
    return total(this.blocks.map((block, b) => precisions[b] * block.total(this.tableOf(table, b)))) / total(precisions);
  }

  totalVariance(variance) {
    return variance / total(this.blocks.map(({ totalVariance }) => 1 / totalVariance));
  }
}

const middleOf = (domain) => {
  const [low, high] = domain.bounds("l2");
  return low.map((one, k) => (one + high[k]) / 2);
};

/** Straight-line distances as averages over random directions. */
export class ProjectedDistance extends AskedAtPlaces {
  groups;

  constructor({ radius, inner, groups, directions: count, seed }, domain) {
    super();
    if (!(groups >= 2 && groups <= 64 && count >= 1 && groups * count * domain.dimensions <= 1 << 24)) throw new ReaderError("The file states directions that no release has.");
    Object.assign(this, { domain, groups, answers: "distance", metric: "l2" });
    const d = domain.dimensions;
    const bound = radius * Math.min(1, 4 / Math.sqrt(d));
    this.inner = new Distance(inner.parameters, new Domain({ columns: [{ kind: "vector", name: "projected", length: count, low: -bound, high: bound }] }));
    this.shape = [groups, ...this.inner.shape];
    this.factor = (Math.exp(logGamma((d + 1) / 2) - logGamma(d / 2)) * Math.sqrt(Math.PI)) / count;
    const [angles, number] = [uniformsForDirection(d), seedOf(seed)];
    const uniforms = angles ? groupedUniforms(groups * count, groups, angles, number, 36) : null;
    this.directions = directions(groups * count, (r, k) => uniforms[r * angles + k], d, groups, number, 36).map((unit) => unit.map(onGrid));
    this.count = count;
    this.lookups = groups * count * 2; // of a place
    this.middle = middleOf(domain);
  }

  tableOf(table, g) {
    return table.subarray(g * this.inner.shape[0], (g + 1) * this.inner.shape[0]);
  }

  answer(table, records, { count, coordinates }, variance, level) {
    const read = Array.from({ length: this.groups }, (_, g) => {
      const projected = Array.from({ length: this.count }, (_, m) => {
        const unit = this.directions[g * this.count + m];
        return filled(count, (i) => unit.reduce((sum, one, k) => sum + one * (coordinates[k][i] - this.middle[k]), 0));
      });
      return this.inner.readAt(this.tableOf(table, g), { count, coordinates: projected }, false);
    });
    const student = studentQuantile(this.groups - 1, 0.5 + level / 2);
    const normal = normalQuantile(0.5 + level / 2);
    const [estimate, error, reach] = [0, 1, 2].map(() => new Float64Array(count));
    for (let i = 0; i < count; i++) {
      const each = read.map(([one]) => this.factor * one[i]);
      estimate[i] = total(each) / this.groups;
      const spread = Math.sqrt(total(each.map((one) => (one - estimate[i]) ** 2)) / this.groups / (this.groups - 1));
      const missed = this.factor * Math.max(total(read.map((one) => one[3][i])) / this.groups, 0);
      error[i] = Math.hypot(spread, missed);
      reach[i] = Math.hypot(student * spread, normal * missed);
    }
    return { estimate, error, reach };
  }

  total(table) {
    return total(Array.from({ length: this.groups }, (_, g) => this.inner.total(this.tableOf(table, g)))) / this.groups;
  }

  totalVariance(variance) {
    return this.inner.totalVariance(variance) / this.groups;
  }
}

/** Squared distances, from how many records there are, their sum, and the sum of their squared lengths. */
export class Moments extends AskedAtPlaces {
  countWeight; radius; squareWeight;

  constructor({ radius, centre, count_weight: countWeight, square_weight: squareWeight }, domain) {
    super();
    Object.assign(this, { domain, radius, countWeight, squareWeight, answers: "distance", metric: "l2" });
    this.origin = centre ?? middleOf(domain);
    this.shape = [domain.dimensions + 2];
  }

  answer(table, records, { count, coordinates }, variance, level) {
    const [number, last] = [table[0] / this.countWeight, table.length - 1];
    const second = table[last] * (this.radius ** 2 / this.squareWeight);
    const [estimate, variances] = [new Float64Array(count), new Float64Array(count)];
    for (let i = 0; i < count; i++) {
      let [square, product] = [0, 0];
      for (let k = 0; k + 1 < last; k++) {
        const offset = coordinates[k][i] - this.origin[k];
        square += offset * offset;
        product += offset * table[k + 1] * (this.radius / UNITS);
      }
      estimate[i] = number * square - 2 * product + second;
      variances[i] = 4 * square * variance * (this.radius / UNITS) ** 2 + (variance * square * square) / this.countWeight ** 2
        + variance * (this.radius * (this.radius / this.squareWeight)) ** 2;
    }
    return withNormal(estimate, variances, level);
  }

  total(table) {
    return table[0] / this.countWeight;
  }

  totalVariance(variance) {
    return variance / this.countWeight ** 2;
  }
}

/** Sums of cosines of the angles between records and a query, seen from a centre. */
export class Directions extends AskedAtPlaces {
  pole;

  constructor({ centre, projection, pole }, domain) {
    super();
    Object.assign(this, { domain, pole, answers: "cosine", metric: "l2" });
    this.origin = centre ?? middleOf(domain);
    this.projected = projection ? projectionOf(projection, domain.dimensions, projection.stream) : (point) => point;
    this.shape = [projection?.target ?? domain.dimensions];
  }

  answer(table, records, { count, coordinates }, variance, level) {
    const estimate = filled(count, (i) => {
      const seen = Array.from(this.projected(Array.from(this.origin, (one, k) => coordinates[k][i] - one)));
      if (this.pole) {
        const along = seen.reduce((sum, one, k) => sum + one * this.pole[k], 0);
        seen.forEach((_, k) => { seen[k] -= along * this.pole[k]; });
      }
      const length = Math.sqrt(seen.reduce((sum, one) => sum + one * one, 0));
      return length <= 1e-100 ? 0 : seen.reduce((sum, one, k) => sum + (one * table[k]) / UNITS, 0) / length;
    });
    return withNormal(estimate, new Float64Array(count).fill(variance / UNITS ** 2), level);
  }

  total() {
    return NaN; // it is released apart
  }

  totalVariance() {
    return Infinity;
  }
}
