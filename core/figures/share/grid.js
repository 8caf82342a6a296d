// A released grid, decoded here: answers of any bandwidth with their errors, from the counters themselves.

/** A table summed over one axis after another with a matrix each: (…, counters, …) to (…, places, …). */
const contracted = (table, sides, matrices) => {
  let [values, shape] = [table, [...sides]];
  matrices.forEach(({ rows, count }, axis) => {
    const before = shape.slice(0, axis).reduce((a, b) => a * b, 1);
    const after = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
    const side = shape[axis];
    const next = new Float64Array(before * count * after);
    for (let b = 0; b < before; b++) {
      for (let n = 0; n < count; n++) {
        for (let c = 0; c < side; c++) {
          const weight = rows[n * side + c];
          if (weight === 0) continue;
          const [to, from] = [(b * count + n) * after, (b * side + c) * after];
          for (let a = 0; a < after; a++) next[to + a] += weight * values[from + a];
        }
      }
    }
    shape[axis] = count;
    values = next;
  });
  return values;
};

class Grid {
  constructor(facts, table) {
    Object.assign(this, facts);
    this.exact = true;
    this.sides = this.axes.map(sideOf);
    this.coarseSides = this.axes.map((axis) => sideOf(axis.coarse ?? axis));
    const sizes = [this.sides, ...(this.scales.length > 1 ? [this.coarseSides] : [])].map(productOf);
    const whole = sizes.reduce((a, b) => a + b, 0);
    // Of two grids the fine one comes first; of groups one slab is of each.
    [this.counts, this.coarseCounts] = sizes.map((size, grid) => {
      const found = new Float64Array(size);
      for (const slab of facts.slabs.length ? facts.slabs : [0]) {
        const start = slab * whole + (grid ? sizes[0] : 0);
        for (let i = 0; i < size; i++) found[i] += table[start + i] / this.scales[grid];
      }
      return found;
    });
    this.inside = this.axes.map((axis, a) => (this.isApart(a) ? this.sides[a] : axis.cells));
    // About how many records each cell holds: the counters at its ends, which get most of what lies in it.
    const ends = this.axes.map((axis, a) => {
      const [count, side] = [this.inside[a], this.sides[a]];
      const rows = new Float64Array(count * side);
      for (let n = 0; n < count; n++) {
        if (this.isApart(a)) rows[n * side + n] = 1;
        else rows[n * side + n + 1] = rows[n * side + n + 2] = 1;
      }
      return { rows, count };
    });
    this.heaps = contracted(this.counts, this.sides, ends);
    this.squaredHeaps = this.heaps.map((value) => value * value);
    this.fitters = this.axes.map((axis) => [axis, axis.coarse].map((one) => (one?.cells ? fitter(one.cells) : null)));
    this.chosen = this.suited;
  }

  isApart(a) {
    return this.axes[a].categories > 0 || this.axes[a].values > 0;
  }

  get reading() {
    return this.readings[this.chosen];
  }

  offers() {
    return true;
  }

  encoded(a, value) {
    const column = this.columns[a];
    if (column.kind !== "category") return column.encoded[0] + column.encoded[1] * value;
    return this.axes[a].categories ? nearest(column, value) : column.encoded[nearest(column, value)];
  }

  /** What a kernel is along an axis between two coordinates. */
  factor(a, kinds, one, other) {
    if (this.axes[a].categories) {
      return one === other ? 1 : this.faded(kinds, this.axes[a].apart);
    }
    return this.faded(kinds, Math.abs(one - other));
  }

  faded(kinds, distance) {
    let power = 0;
    for (const [kind, width] of kinds) power += kind === "g" ? 0.5 * (distance / width) ** 2 : distance / width;
    return Math.exp(-power);
  }

  /**
   * What is read along an axis at one place: coefficients on the fine grid, on the coarse one (`rough`) and what that
   * is on the fine one (`smooth`); the function itself inside each cell; and in which cell the place lies.
   */
  row(a, f, own) {
    const axis = this.axes[a];
    const fit = (one, grid) => {
      const at = (place) => (axis.categories ? place : one.low + one.pitch * place);
      return one.cells
        ? this.fitters[a][grid](fittingPoints(one.cells).map((place) => f(at(place))))
        : Float64Array.from({ length: sideOf(one) }, (_, i) => f(at(i)));
    };
    const weights = fit(axis, 0);
    const coarse = axis.coarse ? fit(axis.coarse, 1) : null;
    const found = { weights, rough: coarse ?? weights, smooth: coarse ? this.refined(axis, coarse) : weights };
    if (this.isApart(a)) return { ...found, truth: weights };
    const inside = (i) => f(axis.low + (axis.pitch * i) / A_CELL);
    return { ...found, truth: Float64Array.from({ length: axis.cells * A_CELL }, (_, i) => inside(i)), own };
  }

  /** Coefficients on an axis of what has these on the coarser one. */
  refined(axis, rough) {
    if (axis.values) return Float64Array.from({ length: axis.values }, (_, i) => combined(rough, i / 2 ** this.halvings));
    let finer = rough;
    for (let i = 0; i < this.halvings; i++) finer = halved(finer);
    return finer;
  }

  /** Rows of places along an axis through one factor of the kernel. */
  rowsAt(a, kinds, values) {
    return values.map((value) => {
      const at = this.encoded(a, value);
      const place = (at - this.axes[a].low) / this.axes[a].pitch;
      return this.row(a, (x) => this.factor(a, kinds, at, x), place);
    });
  }

  /** One row that averages over the bounds of an axis, or its categories. */
  averageRow(a, kinds) {
    const column = this.columns[a];
    const [low, high] = endsOf(column);
    const places = column.kind === "category" ? column.categories.length : 64;
    const values = Array.from({ length: places }, (_, i) => low + ((i + 0.5) * (high - low)) / places);
    return [meanOf(this.rowsAt(a, kinds, values), this.axes[a].cells)];
  }

  /** One row that counts what lies between two places of an axis; at a bound, whatever was moved to it too. */
  boxRow(a, ends) {
    const [axis, column] = [this.axes[a], this.columns[a]];
    if (!ends) return this.row(a, () => 1, null);
    if (axis.categories) return this.row(a, (x) => (x > ends[0] && x < ends[1] ? 1 : 0), null);
    const [low, high] = column.kind === "category"
      ? ends.map((end) => this.between(column, end))
      : ends.map((end, side) => this.atBound(column, end, side));
    if (axis.values) return this.row(a, (x) => (x >= low && x <= high ? 1 : 0), null);
    const half = axis.pitch / A_CELL / 2;
    const covered = (x) => Math.max(0, Math.min(high, x + half) - Math.max(low, x - half)) / (2 * half);
    return this.row(a, covered, null);
  }

  atBound(column, end, side) {
    const [low, high] = endsOf(column);
    if (side === 0 && end <= low) return -Infinity;
    if (side === 1 && end >= high) return Infinity;
    return column.encoded[0] + column.encoded[1] * end;
  }

  /** The coordinate between two categories in order. */
  between(column, end) {
    const [below, above] = [Math.floor(end), Math.floor(end) + 1];
    if (below < 0) return -Infinity;
    if (above >= column.encoded.length) return Infinity;
    return (column.encoded[below] + column.encoded[above]) / 2;
  }

  /** Estimates and standard errors at all combinations of rows; `terms` has weights, and rows for each axis. */
  read(terms, spread) {
    const size = terms[0].rows.reduce((product, rows) => product * rows.length, 1);
    const [estimate, error] = [new Float64Array(size), new Float64Array(size)];
    const two = this.scales.length > 1;
    const add = (counts, sides, term, name, sign) => {
      const found = contracted(counts, sides, term.rows.map((rows) => flat(rows, name)));
      for (let i = 0; i < size; i++) estimate[i] += sign * term.weight * found[i];
    };
    for (const term of terms) {
      add(this.counts, this.sides, term, "weights", 1);
      if (!two) continue;
      // The fine counters are asked only for what the coarse fit misses.
      add(this.counts, this.sides, term, "smooth", -1);
      add(this.coarseCounts, this.coarseSides, term, "rough", 1);
    }
    const gains = this.gains(terms, size);
    const missed = terms.length > 1 ? null : this.misfit(terms[0].rows, size);
    for (let i = 0; i < size; i++) {
      const grid = missed ? missed[i] : (spread * Math.max(estimate[i], 0)) ** 2;
      error[i] = Math.sqrt(gains[i] * this.variance + grid);
    }
    return { estimate, error };
  }

  /** What noise of variance 1 in every counter does to the estimates. */
  gains(terms, size) {
    const fine = terms.map(({ weight, rows }) => [weight, rows, "weights"]);
    if (this.scales.length < 2) return this.squares(fine, size).map((value) => value / this.scales[0] ** 2);
    const details = this.squares([...fine, ...terms.map(({ weight, rows }) => [-weight, rows, "smooth"])], size);
    const rough = this.squares(terms.map(({ weight, rows }) => [weight, rows, "rough"]), size);
    return details.map((value, i) => value / this.scales[0] ** 2 + rough[i] / this.scales[1] ** 2);
  }

  /** Sums of squared coefficients: of all pairs of terms, and of each pair the product of one sum an axis. */
  squares(terms, size) {
    const found = new Float64Array(size);
    terms.forEach(([weight, rows, name], s) => {
      terms.slice(s).forEach(([otherWeight, others, other], t) => {
        const along = rows.map((each, a) => Float64Array.from(each, (row, n) => dot(row[name], others[a][n][other])));
        addProducts(found, along, (t === 0 ? 1 : 2) * weight * otherWeight);
      });
    });
    return found.map((value) => Math.max(value, 0));
  }

  /** Squared error that the grid gives, from the heaps around each place; see `core.sketches.grids.smoothing`. */
  misfit(rows, size) {
    const parts = rows.map((along, a) => along.map((row) => this.cellMeans(a, row)));
    const sums = (names) =>
      contracted(this.squaredHeaps, this.inside, parts.map((along) => flat(along, names)));
    const [squares, mixed, truths] = [sums("square"), sums("mixed"), sums("truth")];
    const aligned = new Float64Array(size);
    let shared = 0;
    rows.forEach((along, a) => {
      if (this.isApart(a)) return;
      shared += 1;
      const layers = parts.map((means, b) => (a === b ? flat(means, "own") : flat(means, "mean")));
      const layer = contracted(this.heaps, this.inside, layers).map((value) => Math.max(value, 0));
      const missed = rows.map((other, b) =>
        Float64Array.from(other, (_, n) => (a === b ? parts[a][n].missed : 1)));
      const factors = new Float64Array(size);
      addProducts(factors, missed, 1);
      for (let i = 0; i < size; i++) aligned[i] += factors[i] * layer[i];
    });
    const overlap = 2 ** (Math.max(1, shared) - 1);
    return aligned.map((value, i) =>
      Math.max(squares[i] - 2 * mixed[i] + truths[i], 0) + (value / overlap) ** 2);
  }

  /** Means inside each cell of the squared fit, of fit times function, of the squared function and of itself. */
  cellMeans(a, row) {
    if (row.means) return row.means;
    const cells = this.inside[a];
    const [square, mixed, truth, mean, own] = [0, 1, 2, 3, 4].map(() => new Float64Array(cells));
    const each = this.isApart(a) ? 1 : A_CELL;
    for (let cell = 0; cell < cells; cell++) {
      for (let k = 0; k < each; k++) {
        const value = row.truth[cell * each + k];
        const fit = this.isApart(a) ? value : combined(row.weights, cell + k / A_CELL);
        square[cell] += (fit * fit) / each;
        mixed[cell] += (fit * value) / each;
        truth[cell] += (value * value) / each;
        mean[cell] += value / each;
      }
    }
    let missed = row.missed ?? 0;
    if (row.ownCells) own.set(row.ownCells);
    else if (row.own !== null && row.own !== undefined) {
      missed = Math.abs(combined(row.weights, Math.min(Math.max(row.own, 0), cells)) - 1);
      if (row.own >= 0 && row.own <= cells) own[Math.min(cells - 1, Math.floor(row.own))] = 1;
    }
    row.means = { square, mixed, truth, mean, own, missed };
    return row.means;
  }

  /** The rows of every term: along drawn axes at `values`, along held ones at one value, else averaged. */
  terms(values, held) {
    return this.reading.terms.map(([weight, kinds]) => ({
      weight,
      rows: this.axes.map((_, a) => {
        if (values[a]) return this.rowsAt(a, kinds[a], values[a]);
        return a in held ? this.rowsAt(a, kinds[a], [held[a]]) : this.averageRow(a, kinds[a]);
      }),
    }));
  }

  found({ estimate, error }) {
    const ends = (side) => estimate.map((value, i) => value + side * this.reach * error[i]);
    return { est: estimate, low: ends(-1), high: ends(1), error };
  }

  /** A picture over one or two columns inside a window, at about so many places. */
  picture(x, y, window, places, held) {
    const along = (column, ends, most) => {
      const facts = this.columns[column];
      if (facts.kind === "category") return facts.categories.map((_, place) => place);
      return Array.from({ length: most }, (_, i) => ends[0] + ((i + 0.5) * (ends[1] - ends[0])) / most);
    };
    const values = { [x]: along(x, window.x, places[0]) };
    if (y !== null) values[y] = along(y, window.y, places[1]);
    const found = this.found(this.read(this.terms(values, held), this.reading.discretisation));
    const turned = y !== null && x < y; // the table's axes come in order, and a picture's rows go along x
    const shape = y === null ? [values[x].length] : [values[y].length, values[x].length];
    const inRows = (numbers) => (turned ? transposed(numbers, shape[1], shape[0]) : numbers);
    const rect = [x, y].map((column, place) => column === null ? null
      : this.columns[column].kind === "category" ? endsOf(this.columns[column]) : place ? window.y : window.x);
    return { shape, rect, values: values[x], est: inRows(found.est), low: inRows(found.low), high: inRows(found.high) };
  }

  /** The answer at one point; columns without a value are averaged over. */
  ask(at) {
    const found = this.found(this.read(this.terms({}, at), this.reading.discretisation));
    return { estimate: found.est[0], low: found.low[0], high: found.high[0], error: found.error[0] };
  }

  /** How many records lie inside a box, whatever their other columns; noise is exact, edges are fitted to the grid. */
  box(ends) {
    const term = { weight: 1, rows: this.axes.map((_, a) => [this.boxRow(a, ends[a])]) };
    const { estimate, error } = this.read([term], 0);
    const reach = this.reach * error[0];
    return { estimate: estimate[0], low: estimate[0] - reach, high: estimate[0] + reach, error: error[0] };
  }
}

const sideOf = (axis) => axis.categories || axis.values || axis.cells + 3;
const productOf = (numbers) => numbers.reduce((a, b) => a * b, 1);

/** The same combination as splines of half the pitch: each is the sum of those, weighted 1, 4, 6, 4, 1 over 8. */
const halved = (rough) => {
  const finer = new Float64Array(2 * rough.length - 3);
  for (let i = 0; i + 1 < rough.length; i++) finer[2 * i] = (rough[i] + rough[i + 1]) / 2;
  for (let i = 0; i + 2 < rough.length; i++) finer[2 * i + 1] = (rough[i] + 6 * rough[i + 1] + rough[i + 2]) / 8;
  return finer;
};

const dot = (one, other) => {
  let sum = 0;
  for (let i = 0; i < one.length; i++) sum += one[i] * other[i];
  return sum;
};

const flat = (rows, name) => {
  const side = rows[0][name].length;
  const all = new Float64Array(rows.length * side);
  rows.forEach((row, n) => all.set(row[name], n * side));
  return { rows: all, count: rows.length };
};

/** Adds, at every combination of places, the product of one number an axis. */
const addProducts = (sums, along, weight) => {
  let products = Float64Array.of(weight);
  for (const numbers of along) {
    const next = new Float64Array(products.length * numbers.length);
    products.forEach((one, i) => numbers.forEach((other, j) => { next[i * numbers.length + j] = one * other; }));
    products = next;
  }
  for (let i = 0; i < sums.length; i++) sums[i] += products[i];
};

const transposed = (numbers, rows, columns) => {
  const turned = new Float64Array(numbers.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) turned[j * rows + i] = numbers[i * columns + j];
  return turned;
};

/** The mean of rows, and of what is known of each. */
const meanOf = (rows, cells) => {
  const mean = (lists) => lists[0].map((_, i) => lists.reduce((sum, list) => sum + list[i], 0) / lists.length);
  const each = ["weights", "rough", "smooth", "truth"].map((name) => [name, mean(rows.map((row) => row[name]))]);
  const found = Object.fromEntries(each);
  if (rows[0].own === undefined) return found;
  const fits = rows.map((row) => Math.abs(combined(row.weights, Math.min(Math.max(row.own, 0), cells)) - 1));
  const missed = fits.reduce((sum, one) => sum + one, 0) / fits.length;
  return { ...found, missed, ownCells: new Float64Array(cells).fill(1 / cells) };
};
