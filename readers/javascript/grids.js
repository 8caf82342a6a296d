// Histograms: shared counts on a grid, read through a kernel of any bandwidth that the grid is fine enough for.
import { ReaderError } from "./archive.js";
import { contracted, dot, dotBetween, endsOfRow, filled, halfEven, outer, productOf } from "./arrays.js";
import { AskedAtPlaces } from "./columns.js";
import { alongCoordinate, checkedKernel, isProductOfColumns, metricOf, ofDifferences, radialMixture, reachAlong } from "./kernels.js";
import { A_CELL, bspline, combined, finer, fitter } from "./splines.js";
import { normalQuantile } from "./special.js";

const MOST_WHOLE = 1 << 13, MOST_TERMS_OF_SUM = 96, OVERLAP = 2, SCALE = 2 ** 32, MOST_GRID = 1 << 24, MEAN_PLACES = 64;
/** Of rows at one place the sums of the products of any two of them, each with itself and those after it. */
const productsOfPairs = (rows) => {
  const ends = rows.map(endsOfRow);
  const found = new Float64Array((rows.length * (rows.length + 1)) / 2);
  for (let s = 0, k = 0; s < rows.length; s++) {
    for (let t = s; t < rows.length; t++, k++) {
      const [first, end] = [Math.max(ends[s][0], ends[t][0]), Math.min(ends[s][1], ends[t][1])];
      if (first < end) found[k] = dotBetween(rows[s], rows[t], first, end, 0);
    }
  }
  return found;
};

/** Weights and products of one factor a coordinate whose sum a kernel is; null where it is no such sum, or too long. */
const productTerms = (kernel) => {
  if (isProductOfColumns(kernel)) return [[1, kernel]];
  if (kernel.name === "angular") return null;
  if (!kernel.parts) return radialMixture(kernel)?.map(([weight, scale]) => [weight, { power: 1, name: metricOf(kernel) === "l1" ? "laplacian" : "gaussian",
    bandwidth: Array.isArray(kernel.bandwidth) ? kernel.bandwidth.map((one) => one * scale) : kernel.bandwidth * scale }]) ?? null;
  const parts = kernel.parts.map(productTerms);
  if (parts.includes(null)) return null;
  const terms = kernel.name === "mixture"
    ? parts.flatMap((part, i) => part.map(([weight, one]) => [kernel.weights[i] * weight, one]))
    : parts.reduce((all, part) => all.flatMap(([a, one]) => part.map(([b, other]) => [a * b, { name: "product", parts: [one, other] }])));
  return terms.length > MOST_TERMS_OF_SUM ? null : terms;
};

/** An axis of the (fine) grid: coordinate, lower bound, pitch, cells, categories, values, radius. */
const coarserOf = (axis, halvings) => {
  if (axis.values) {
    const cells = Math.ceil((axis.values - 1) / 2 ** halvings);
    return 2 * (cells + 3) <= axis.values ? { ...axis, pitch: axis.pitch * 2 ** halvings, cells, values: 0 } : axis;
  }
  return axis.categories ? axis : { ...axis, pitch: axis.pitch * 2 ** halvings, cells: axis.cells / 2 ** halvings };
};

const countersOf = (axis) => axis.categories || axis.values || axis.cells + 3;
const isApart = (axis) => axis.categories > 0 || axis.values > 0;

export class Histogram extends AskedAtPlaces {
  constructor({ kernel, cells, halvings = 0, fine = 1 }, domain) {
    super();
    this.kernel = checkedKernel(kernel);
    this.metric = metricOf(kernel);
    this.domain = domain;
    this.answers = "closeness";
    this.halvings = halvings;
    this.amplitude = domain.amplitude(this.metric);
    this.axes = this.axesOf(cells ?? []);
    this.coarseAxes = halvings ? this.axes.map((axis) => coarserOf(axis, halvings)) : null;
    const whole = halvings || this.axes.some((axis) => !isApart(axis)) ? SCALE : 1;
    const share = Math.round(fine * whole);
    this.scales = halvings ? [share, whole - share] : [whole];
    this.sides = this.axes.map(countersOf);
    this.coarseSides = this.coarseAxes?.map(countersOf);
    this.sizes = [this.sides, ...(halvings ? [this.coarseSides] : [])].map(productOf);
    this.shape = [this.sizes.reduce((a, b) => a + b, 0)];
    if (!(this.shape[0] > 0 && this.shape[0] <= MOST_GRID)) throw new ReaderError("The grid of the file is none that a page can hold.");
    this.fitters = this.axes.map((axis, a) => [axis, this.coarseAxes?.[a]].map((one) => (one && !isApart(one) ? fitter(one.cells) : null)));
    this.setTerms();
  }

  axesOf(cells) {
    const [low, high] = this.domain.bounds(this.metric);
    const spacings = this.domain.spacings;
    let next = 0;
    return this.domain.columns.flatMap((column, c) => {
      const first = this.domain.starts[c];
      const plain = { coordinate: first, low: 0, pitch: 1, cells: 1, categories: column.categories?.length ?? 0, values: 0, radius: 0 };
      if (column.kind === "cyclic") return [{ ...plain, radius: column.radius / column.scaling(this.domain.scale)[1] }];
      if (!column.isScalar && column.kind !== "vector") return [plain];
      return Array.from({ length: column.width }, (_, k) => {
        const [place, count] = [first + k, cells[next++]];
        const own = { ...plain, coordinate: place, low: low[place], categories: 0, cells: count };
        if (count) return { ...own, pitch: (high[place] - low[place]) / count };
        return { ...own, cells: 0, pitch: spacings[place], values: Math.floor((high[place] - low[place]) / spacings[place] + 1e-9) + 1 };
      });
    });
  }

  /** The same grid read through a kernel of another bandwidth. */
  smoothed(bandwidth) {
    const copy = Object.assign(Object.create(Histogram.prototype), this);
    copy.kernel = { ...this.kernel, bandwidth };
    copy.setTerms();
    return copy;
  }

  setTerms() {
    const terms = this.axes.length === 1 ? [[1, this.kernel]] : productTerms(this.kernel);
    const all = this.axes.every(isApart) && productOf(this.sides) <= MOST_WHOLE;
    this.whole = ofDifferences(this.kernel, this.domain.widths);
    this.terms = terms && !(terms.length > 1 && all) ? terms.map(([weight, kernel]) => ({ weight, around: this.axes.map((axis) => this.around(axis, kernel)),
      reach: this.axes.map(({ coordinate }) => reachAlong(kernel, this.domain.widths, coordinate)) })) : null;
    if (!this.terms && !all) throw new ReaderError("The kernel of the grid is no sum of products, which this reader does not read.");
    this.spread = null;
    this.known = new Map();
  }

  /** The kernel between two values along an axis, everything else being equal. */
  around(axis, kernel) {
    if (axis.categories) {
      const between = ofDifferences(kernel, this.domain.widths);
      return (one, other) => between(this.differences(axis, one, other));
    }
    const along = alongCoordinate(kernel, this.domain.widths, axis.coordinate);
    return (one, other) => along(one - other);
  }

  /** The counters of a table in records: those of the fine grid, and of the coarse one where there is one. */
  countsOf(table) {
    if (this.countedTable !== table) {
      this.countedTable = table;
      const parts = [table.subarray(0, this.sizes[0]), table.subarray(this.sizes[0])];
      this.counts = this.scales.map((scale, grid) => Float64Array.from(parts[grid], (one) => one / scale));
      // The fine counters are asked only for what the coarse fit misses: what they say of that is taken off the coarse ones.
      if (this.coarseAxes) {
        const unit = (side, place) => filled(side, (i) => Number(i === place));
        const seen = this.axes.map((axis, a) => Array.from({ length: this.coarseSides[a] }, (_, c) => this.refined(axis, this.coarseAxes[a], unit(this.coarseSides[a], c))));
        contracted(this.counts[0], this.sides, seen).forEach((one, i) => { this.counts[1][i] -= one; });
      }
      this.inside = this.axes.map((axis, a) => (isApart(axis) ? this.sides[a] : axis.cells));
      // About how many records each cell holds: the counters at its ends, which get most of what lies in it.
      const heaps = contracted(this.counts[0], this.sides, this.axes.map((axis, a) => Array.from({ length: this.inside[a] }, (_, n) => {
        const row = new Float64Array(this.sides[a]);
        if (isApart(axis)) row[n] = 1;
        else row[n + 1] = row[n + 2] = 1;
        return row;
      })));
      this.squaredHeaps = heaps.map((one) => one * one);
    }
    return this.counts;
  }

  total(table) {
    const last = this.scales.length - 1;
    return table.subarray(last ? this.sizes[0] : 0).reduce((a, b) => a + b, 0) / this.scales[last];
  }

  totalVariance(variance) {
    const last = this.scales.length - 1;
    return (variance * this.sizes[last]) / this.scales[last] ** 2;
  }

  /** What a place has along an axis: a number, or the number of its category or value around the circle. */
  valueAt(axis, coordinates, i) {
    if (axis.radius) {
      const turn = Math.atan2(coordinates[axis.coordinate + 1][i], coordinates[axis.coordinate][i]) * (axis.categories / (2 * Math.PI));
      return ((Math.round(turn) % axis.categories) + axis.categories) % axis.categories;
    }
    if (!axis.categories) return coordinates[axis.coordinate][i];
    let best = 0;
    for (let c = 1; c < axis.categories; c++) if (coordinates[axis.coordinate + c][i] > coordinates[axis.coordinate + best][i]) best = c;
    return best;
  }

  /** Differences of two values along an axis, by coordinates. */
  differences(axis, one, other) {
    if (axis.radius) {
      const [a, b] = [one, other].map((value) => (2 * Math.PI * value) / axis.categories);
      return [[axis.coordinate, axis.radius * (Math.cos(a) - Math.cos(b))], [axis.coordinate + 1, axis.radius * (Math.sin(a) - Math.sin(b))]];
    }
    if (!axis.categories) return [[axis.coordinate, one - other]];
    return one === other ? [] : [[axis.coordinate + one, this.amplitude], [axis.coordinate + other, this.amplitude]];
  }

  /**
   * What is read along an axis for a function of its values: coefficients on the fine grid, on the coarse one (`rough`)
   * and what that is on the fine one (`smooth`); of a kernel around the place `own` also what the grid makes of it.
   * Between the ends of a stretch alone it is not zero.
   */
  row(a, f, own = null, stretch = [-Infinity, Infinity]) {
    const [axis, coarse] = [this.axes[a], this.coarseAxes?.[a]];
    const fit = (one, grid) => {
      if (isApart(one)) return filled(countersOf(one), (i) => f(one.categories ? i : one.low + one.pitch * i));
      const found = this.fitters[a][grid]((place) => f(one.low + one.pitch * place), stretch.map((end) => (end - one.low) / one.pitch));
      // A fit fades by a quarter from node to node: what is lost in rounding need not be added up.
      let most = 0;
      for (let i = 0; i < found.length; i++) most = Math.max(most, Math.abs(found[i]));
      for (let i = 0; i < found.length; i++) if (Math.abs(found[i]) < 1e-15 * most) found[i] = 0;
      return found;
    };
    const weights = fit(axis, 0);
    const rough = coarse ? fit(coarse, 1) : weights;
    const row = { weights, rough, smooth: coarse ? this.refined(axis, coarse, rough) : weights };
    return own === null ? row : Object.assign(row, this.missed(axis, f, weights, own));
  }

  refined(axis, coarse, rough) {
    if (isApart(coarse)) return rough;
    if (axis.values) return filled(axis.values, (i) => combined(rough, i / 2 ** this.halvings));
    let found = rough;
    for (let i = 0; i < this.halvings; i++) found = finer(found);
    return found;
  }

  /** Means inside each cell of the squared fit, of fit times function and of the squared function; and at the place. */
  missed(axis, f, weights, own) {
    if (isApart(axis)) {
      const square = weights.map((one) => one * one);
      return { square, mixed: square, truth: square, off: 0, layer: weights };
    }
    const [square, mixed, truth] = [0, 1, 2].map(() => new Float64Array(axis.cells));
    for (let i = 0; i < axis.cells * A_CELL; i++) {
      const [cell, fitted, exact] = [Math.floor(i / A_CELL), combined(weights, i / A_CELL), f(axis.low + (axis.pitch * i) / A_CELL)];
      square[cell] += (fitted * fitted) / A_CELL;
      mixed[cell] += (fitted * exact) / A_CELL;
      truth[cell] += (exact * exact) / A_CELL;
    }
    const place = (own - axis.low) / axis.pitch;
    const cell = Math.min(Math.max(Math.floor(place), 0), axis.cells - 1);
    let at = 0;
    for (let k = 0; k < 4; k++) at += weights[cell + k] * bspline(place - cell + 1 - k);
    const layer = new Float64Array(weights.length);
    if (place >= 0 && place <= axis.cells) layer[cell + 1] = layer[cell + 2] = 1;
    return { square, mixed, truth, off: Math.abs(at - 1), layer };
  }

  /** The row of a place along an axis through one term of the kernel. */
  rowAt(a, term, value) {
    const key = `${a} ${term} ${value}`;
    if (this.known.size > 20_000) this.known.clear();
    if (!this.known.has(key)) {
      const [around, reach] = [this.terms[term].around[a], this.terms[term].reach[a]];
      // Of a sum of several products nobody looks how each is missed.
      this.known.set(key, this.row(a, (x) => around(value, x), this.terms.length > 1 ? null : value, [value - reach, value + reach]));
    }
    return this.known.get(key);
  }

  /** Estimates and standard errors at all combinations of rows: `terms` has weights, and rows for each axis. */
  read(table, variance, terms, spread = this.discretisation) {
    const counts = this.countsOf(table);
    const size = terms[0].rows.reduce((product, rows) => product * rows.length, 1);
    const [estimate, error] = [new Float64Array(size), new Float64Array(size)];
    const add = (grid, sides, { weight, rows }, name) => {
      const found = contracted(counts[grid], sides, rows.map((along) => along.map((row) => row[name])));
      for (let i = 0; i < size; i++) estimate[i] += weight * found[i];
    };
    for (const term of terms) {
      add(0, this.sides, term, "weights");
      if (counts.length > 1) add(1, this.coarseSides, term, "rough");
    }
    const gains = this.gains(terms);
    const missed = terms.length > 1 || !terms[0].rows.every((rows) => rows[0].square) ? null : this.misfit(terms[0].rows, size);
    for (let i = 0; i < size; i++) {
      error[i] = Math.sqrt(gains[i] * variance + (missed ? missed[i] : (spread * Math.max(estimate[i], 0)) ** 2));
    }
    return { estimate, error };
  }

  /** What noise of variance 1 in every counter does to the estimates. */
  gains(terms) {
    const weights = terms.map(({ weight }) => weight);
    const [fine, coarse] = this.scales.map((scale) => 1 / scale ** 2);
    if (!coarse) return this.squares(terms, weights, ["weights"]).map((value) => value * fine);
    const details = this.squares(terms, [...weights, ...weights.map((one) => -one)], ["weights", "smooth"]);
    const rough = this.squares(terms, weights, ["rough"]);
    return details.map((value, i) => value * fine + rough[i] * coarse);
  }

  /** Sums of squared coefficients: of any two terms the product of one sum an axis, which is worked out once a place. */
  squares(terms, weights, names) {
    const twice = weights.flatMap((one, s) => weights.slice(s).map((other, t) => (t ? 2 : 1) * one * other));
    const pairs = terms[0].rows.map((along, a) => along.map((row, n) => {
      const known = row.pairs ??= {};
      return (known[names.join()] ??= productsOfPairs(names.flatMap((name) => terms.map(({ rows }) => rows[a][n][name]))));
    }));
    const found = [];
    const added = (a, products) => pairs[a].forEach((each) => {
      if (a === pairs.length - 1) found.push(Math.max(dot(products, each), 0));
      else added(a + 1, products.map((one, k) => one * each[k]));
    });
    added(0, new Float64Array(twice));
    return new Float64Array(found);
  }

  /** Squared error that the grid gives: records of a cell in one heap, and records that share the place along an axis. */
  misfit(rows, size) {
    const sums = (name) => contracted(this.squaredHeaps, this.inside, rows.map((along) => along.map((row) => row[name])));
    const [squares, mixed, truths] = [sums("square"), sums("mixed"), sums("truth")];
    const aligned = new Float64Array(size);
    rows.forEach((along, a) => {
      if (isApart(this.axes[a])) return;
      const layers = contracted(this.counts[0], this.sides, rows.map((other, b) => other.map((row) => row[a === b ? "layer" : "weights"])));
      const factors = rows.map((other, b) => Float64Array.from(other, (row) => (a === b ? row.off : 1))).reduce(outer);
      for (let i = 0; i < size; i++) aligned[i] += factors[i] * Math.max(layers[i], 0);
    });
    return aligned.map((value, i) => Math.max(squares[i] - 2 * mixed[i] + truths[i], 0) + value ** 2);
  }

  /** What the grid gives an answer among evenly spread records, as a share of it: where there are several terms. */
  get discretisation() {
    if (this.spread === null) {
      const profiles = this.axes.map((axis, a) => this.profile(axis, a));
      const numeric = profiles.filter(({ apart }) => !apart);
      const spread = profiles.reduce((product, one) => product * one.spread, 1);
      const scattered = numeric.reduce((sum, one) => sum + one.misfit / one.spread, 0) * spread * OVERLAP ** (2 * numeric.length);
      const aligned = OVERLAP * numeric.reduce((sum, one) => sum + one.peak * one.share, 0);
      this.spread = Math.sqrt(scattered + aligned ** 2);
    }
    return this.spread;
  }

  profile(axis, a) {
    const mean = (numbers) => numbers.reduce((x, y) => x + y, 0) / numbers.length;
    const rows = (places) => places.map((place) => {
      const f = (x) => this.whole(this.differences(axis, place, x));
      return { f, place, weights: this.row(a, f).weights };
    });
    if (isApart(axis)) {
      if (axis.categories && !axis.radius) return { apart: true, spread: 1 };
      const within = this.halvings ? filled(8, (i) => (i + 0.5) / 8) : [0, 0.25, 0.5];
      const ahead = axis.values ? Array.from(within, (part) => halfEven(Math.min(2 ** this.halvings, axis.values / 4) * part)) : [0];
      const found = rows(ahead.map((step) => (axis.values ? axis.low + axis.pitch * (Math.floor(axis.values / 2) + step) : 0)));
      const square = mean(found.map(({ weights }) => dot(weights, weights)));
      return { apart: true, spread: square / mean(found.map(({ weights }) => weights.reduce((x, y) => x + y, 0))) ** 2 };
    }
    const found = rows([0, 0.25, 0.5].map((part) => axis.low + axis.pitch * (Math.floor(axis.cells / 2) + part))).map((row) => {
      const truth = Array.from({ length: axis.cells * A_CELL }, (_, i) => row.f(axis.low + (axis.pitch * (i + 0.5)) / A_CELL));
      const error = truth.map((one, i) => combined(row.weights, (i + 0.5) / A_CELL) - one);
      return { truth: truth.reduce((x, y) => x + y, 0), truths: dot(truth, truth), errors: dot(error, error), off: this.missed(axis, row.f, row.weights, row.place).off };
    });
    const whole = mean(found.map(({ truth }) => truth ** 2)) / A_CELL;
    return { misfit: mean(found.map(({ errors }) => errors)) / whole, spread: mean(found.map(({ truths }) => truths)) / whole,
      peak: mean(found.map(({ off }) => off)), share: A_CELL / mean(found.map(({ truth }) => truth)) };
  }

  /**
   * The values of a column, encoded, along the axis that it is.
   * @returns {[number, number[]]}
   */
  along(name, values) {
    const at = this.domain.names.indexOf(name);
    const { count, coordinates } = this.domain.only([name]).encode({ [name]: values }, this.metric);
    const axis = this.axes.findIndex(({ coordinate }) => coordinate === this.domain.starts[at]);
    const moved = { ...this.axes[axis], coordinate: 0 };
    return [axis, Array.from({ length: count }, (_, i) => this.valueAt(moved, coordinates, i))];
  }

  /** One row that averages over even places of an axis, or its categories. */
  meanRow(a, term) {
    const key = `mean ${a} ${term}`;
    if (!this.known.has(key)) {
      const [axis, around] = [this.axes[a], this.terms[term].around[a]];
      const count = axis.categories || axis.values || MEAN_PLACES;
      const length = axis.cells * axis.pitch;
      const places = Array.from({ length: count }, (_, i) =>
        axis.categories ? i : axis.values ? axis.low + axis.pitch * i : axis.low + ((i + 0.5) * length) / count);
      const mean = (x) => places.reduce((sum, place) => sum + around(place, x), 0) / count;
      const rows = places.map((place) => this.rowAt(a, term, place));
      const several = this.terms.length > 1;
      const layer = several ? null : rows[0].layer.map((_, k) => rows.reduce((sum, row) => sum + row.layer[k], 0) / count);
      this.known.set(key, { ...this.row(a, mean, several ? null : places[0]), layer, off: rows.reduce((sum, row) => sum + row.off, 0) / count });
    }
    return this.known.get(key);
  }

  /** Estimates at all combinations of drawn values, the first column fastest; columns neither drawn nor held are averaged over. */
  answerAcross(table, variance, drawn, held) {
    /** @type {Map<number, number[]>} */
    const lists = new Map();
    for (const [name, values] of Object.entries({ ...held, ...drawn })) lists.set(...this.along(name, name in drawn ? values : [values]));
    const rows = (term) => this.axes.map((_, a) => (lists.has(a) ? lists.get(a).map((value) => this.rowAt(a, term, value)) : [this.meanRow(a, term)]));
    if (!this.terms) throw new ReaderError("A table of so few values is asked value by value.");
    const found = this.read(table, variance, this.terms.map(({ weight }, t) => ({ weight, rows: rows(t) })));
    const [first, second] = Object.keys(drawn).map((name) => this.along(name, drawn[name])[0]);
    const turn = second !== undefined && first < second; // the table's axes come in order, and the first column fastest
    const [n, m] = turn ? [lists.get(first).length, lists.get(second).length] : [1, 1];
    const ordered = (numbers) => (turn ? numbers.map((_, i) => numbers[(i % n) * m + Math.floor(i / n)]) : numbers);
    const [estimate, error] = [found.estimate, found.error].map(ordered);
    const reach = normalQuantile(0.975);
    return { estimate, error, reach: error.map((one) => reach * one) };
  }

  /** How many records lie inside a box, by column two ends of encoded or numbered values, whatever their other columns. */
  inBox(table, variance, ends) {
    const rows = this.axes.map((axis, a) => [this.row(a, this.betweenEnds(axis, ends.get(a)))]);
    return this.read(table, variance, [{ weight: 1, rows }], 0);
  }

  /** Which share of a fitting point's surroundings lies between two ends; at a bound, whatever was moved to it too. */
  betweenEnds(axis, ends) {
    if (!ends) return () => 1;
    const [low, high] = ends;
    if (isApart(axis)) return (x) => (x >= low && x <= high ? 1 : 0);
    const half = axis.pitch / A_CELL / 2;
    return (x) => Math.max(0, Math.min(high, x + half) - Math.max(low, x - half)) / (2 * half);
  }

  answer(table, records, { count, coordinates }, variance, level) {
    const [estimate, error] = [new Float64Array(count), new Float64Array(count)];
    for (let i = 0; i < count; i++) {
      const values = this.axes.map((axis) => this.valueAt(axis, coordinates, i));
      const found = this.terms
        ? this.read(table, variance, this.terms.map(({ weight }, t) => ({ weight, rows: values.map((value, a) => [this.rowAt(a, t, value)]) })))
        : this.readWhole(table, variance, values);
      [estimate[i], error[i]] = [found.estimate[0], found.error[0]];
    }
    const reach = normalQuantile(0.5 + level / 2);
    return { estimate, error, reach: error.map((one) => reach * one) };
  }

  /** Of a table of few values, the kernel at every combination of them. */
  readWhole(table, variance, values) {
    const [counts] = this.countsOf(table);
    let [estimate, squares] = [0, 0];
    const nodes = this.axes.map((axis, a) => Array.from({ length: this.sides[a] }, (_, i) =>
      this.differences(axis, values[a], axis.categories ? i : axis.low + axis.pitch * i)));
    for (let place = 0; place < counts.length; place++) {
      let [left, at] = [place, []];
      for (let a = nodes.length - 1; a >= 0; a--) {
        at = at.concat(nodes[a][left % this.sides[a]]);
        left = Math.floor(left / this.sides[a]);
      }
      const weight = this.whole(at);
      estimate += weight * counts[place];
      squares += weight * weight;
    }
    return { estimate: [estimate], error: [Math.sqrt((squares / this.scales[0] ** 2) * variance + (this.discretisation * Math.max(estimate, 0)) ** 2)] };
  }
}
