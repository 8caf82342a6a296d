// Sketches of random rows: RACE, random features, MinHash, and the first two after a random projection.
import { ReaderError } from "./archive.js";
import { checkedKernel, coordinateBandwidths, metricOf } from "./kernels.js";
import { contracted, filled, walshHadamard } from "./arrays.js";
import { PublicRandom, chiLength, directions, groupSizes, groupedUniforms, onGrid, orthonormal, seedOf, uniformsForDirection, upperProduct } from "./random.js";
import { betaQuantile, gammaQuantile, normalQuantile, studentQuantile } from "./special.js";
import { AskedAtPlaces, Domain } from "./columns.js";

const MOST_CELLS = 2 ** 31, MOST_TERMS = 2 ** 27, MOST_KEYS = 1 << 12, GOLDEN = (Math.sqrt(5) - 1) / 2;
const WIDE = 0.25; // Cells that a step along a line takes at most where it is worth leaping.

/** Numbers from 1 on, each once: parts of a kernel have randomness of their own. */
const countingFrom = (first) => {
  let next = first;
  return () => next++;
};

/** Which part of a mixture each row belongs to, evenly within a group. */
const mixtureChoice = (weights, rows, groups, random) => {
  const shifts = random.uniforms(groups);
  const edges = weights.slice(0, -1).map((_, i) => weights.slice(0, i + 1).reduce((a, b) => a + b, 0));
  return groupSizes(rows, groups).flatMap((size, group) =>
    Array.from({ length: size }, (_, turn) => {
      const place = (turn * (Math.sqrt(5) - 1) / 2 + shifts[group]) % 1;
      return edges.filter((edge) => edge <= place).length;
    }));
};

/** Weights of (1 + s)^-k in the profile of smooth slabs, for an odd number of dimensions. */
const profileWeights = (space) => {
  let weights = [1];
  for (let a = 1; a < space; a += 2) {
    const next = Array(weights.length + 1).fill(0);
    weights.forEach((weight, i) => {
      next[i] += weight * (1 - (i + 1) / a);
      next[i + 1] += (weight * (i + 1)) / a;
    });
    weights = next;
  }
  return weights;
};

const slabPitch = (uniform, weights) => {
  const survival = Array(weights.length + 2).fill(0);
  weights.forEach((weight, i) => {
    survival[i + 1] += weight * (i + 2);
    survival[i + 2] -= weight * (i + 1);
  });
  let [low, high] = [0, 1];
  for (let step = 0; step < 60; step++) {
    const middle = 0.5 * (low + high);
    if (survival.reduceRight((sum, one) => one + sum * middle, 0) > uniform) high = middle;
    else low = middle;
  }
  return 1 / high - 1;
};

/** Hashes of each row: { at: coordinates or null for all, a: coefficients, b: offset, side: whether it is a sign }. */
const FAMILIES = {
  angular: (rows, groups, d, power, seed, family) => {
    const angles = uniformsForDirection(d);
    const uniforms = angles ? groupedUniforms(rows, groups, power * angles, seed, family) : null;
    const signs = new PublicRandom(seed, family, 1_000_000).uniforms(rows * power);
    return perPower(rows, power, (p) => directions(rows, (r, k) => uniforms[(r * power + p) * angles + k], d, groups, seed, family * 1000 + p),
      (r, p, unit) => ({ a: unit.map((one) => onGrid(signs[r * power + p] < 0.5 ? -one : one)), b: 0, side: true }));
  },
  euclidean: (rows, groups, d, power, seed, family) => {
    const each = uniformsForDirection(d) + 2;
    const uniforms = groupedUniforms(rows, groups, power * each, seed, family);
    const at = (r, p, k) => uniforms[(r * power + p) * each + k];
    return perPower(rows, power, (p) => directions(rows, (r, k) => at(r, p, k + 1), d, groups, seed, family * 1000 + p), (r, p, unit) => {
      const length = chiLength(at(r, p, 0), d);
      return { a: unit.map((one) => onGrid(length * one)), b: at(r, p, each - 1), side: false };
    });
  },
  manhattan: (rows, groups, d, power, seed, family) => {
    const uniforms = groupedUniforms(rows, groups, power * (d + 1), seed, family);
    return perPower(rows, power, () => null, (r, p) => {
      const own = uniforms.subarray((r * power + p) * (d + 1), (r * power + p + 1) * (d + 1));
      return { a: own.slice(0, d).map((one) => onGrid(Math.tan(Math.PI * (one - 0.5)))), b: own[d], side: false };
    });
  },
  laplacian: (rows, groups, d, power, seed, family) => byCoordinate(rows, d, groupedUniforms(rows, groups, 2 * d, seed, family), 0,
    () => 1, (uniform) => gammaQuantile(2, uniform) / power),
  "smooth-l1": (rows, groups, d, power, seed, family) => byCoordinate(rows, d, groupedUniforms(rows, groups, 2 * d + 1, seed, family), 1,
    (uniform) => gammaQuantile(power, uniform), (uniform) => gammaQuantile(2, uniform)),
  smooth: (rows, groups, d, power, seed, family) => {
    const space = d + 1 - (d % 2);
    const [weights, each] = [profileWeights(space), uniformsForDirection(space) + 2];
    const uniforms = groupedUniforms(rows, groups, power * each, seed, family);
    const at = (r, p, k) => uniforms[(r * power + p) * each + k];
    return perPower(rows, power, (p) => directions(rows, (r, k) => at(r, p, k + 1), space, groups, seed, family * 1000 + p), (r, p, unit) => {
      const pitch = slabPitch(at(r, p, 0), weights);
      return { a: unit.slice(0, d).map((one) => onGrid(one / pitch)), b: at(r, p, each - 1), side: false };
    });
  },
};

const perPower = (rows, power, unitsOf, made) => {
  const found = Array.from({ length: rows }, () => []);
  for (let p = 0; p < power; p++) {
    const units = unitsOf(p);
    for (let r = 0; r < rows; r++) found[r].push({ at: null, ...made(r, p, units?.[r]) });
  }
  return found;
};

const byCoordinate = (rows, d, uniforms, skipped, scaleOf, pitchOf) => {
  const each = 2 * d + skipped;
  return Array.from({ length: rows }, (_, r) => {
    const own = uniforms.subarray(r * each, (r + 1) * each);
    const scale = scaleOf(own[0]);
    return Array.from({ length: d }, (_, k) => ({ at: [k], a: Float64Array.of(onGrid(scale / pitchOf(own[skipped + k]))), b: own[skipped + d + k], side: false }));
  });
};

const drawHashes = (kernel, widths, rows, groups, seed, family = countingFrom(1)) => {
  if (kernel.parts) {
    const parts = kernel.parts.map((part) => drawHashes(part, widths, rows, groups, seed, family));
    if (kernel.name === "product") return parts[0].map((_, r) => parts.flatMap((part) => part[r]));
    const choice = mixtureChoice(kernel.weights, rows, groups, new PublicRandom(seed, family()));
    return choice.map((part, r) => parts[part][r]);
  }
  if (!FAMILIES[kernel.name]) throw new ReaderError(`The kernel "${kernel.name}" is not the collision probability of a known hash.`);
  const d = widths.reduce((a, b) => a + b, 0);
  const hashes = FAMILIES[kernel.name](rows, groups, d, kernel.power ?? 1, seed, family());
  if (kernel.name === "angular") return hashes;
  const lengths = coordinateBandwidths(kernel.bandwidth, widths);
  return hashes.map((row) => row.map((hash) => ({ ...hash, a: hash.a.map((one, k) => one / lengths[hash.at ? hash.at[k] : k]) })));
};

/** What every sketch of rows in groups shares: the spread of the groups is the error. */
export class Grouped extends AskedAtPlaces {
  groups; rows; seed;

  constructor(parameters, domain) {
    super();
    const { rows, groups, kernel } = parameters;
    if (!(Number.isInteger(rows) && rows > 0 && rows <= 1_000_000 && Number.isInteger(groups) && groups > 0 && groups <= rows)) {
      throw new ReaderError("The file states numbers of rows and groups that no release has.");
    }
    if (rows * domain.dimensions > MOST_TERMS) throw new ReaderError("The release has more rows and columns than a page can hold.");
    this.answers = "closeness";
    Object.assign(this, { rows, groups, domain, seed: seedOf(parameters.seed) });
    this.sizes = groupSizes(rows, groups);
    if (kernel) {
      this.kernel = checkedKernel(kernel);
      this.metric = metricOf(kernel);
    }
  }

  answer(table, records, points, variance, level) {
    return this.answerOf(/** @type {any} */ (this).groupEstimates(table, records, points), level);
  }

  /** The mean of independent estimates, and how far off it is by their spread. */
  answerOf({ estimates, weights }, level = 0.95) {
    const [degrees, count] = [weights.length - 1, estimates[0].length];
    const [estimate, error] = [new Float64Array(count), new Float64Array(count)];
    const student = degrees ? studentQuantile(degrees, 0.5 + level / 2) : Infinity;
    for (let i = 0; i < count; i++) {
      let [mean, spread] = [0, 0];
      for (let g = 0; g < weights.length; g++) mean += weights[g] * estimates[g][i];
      for (let g = 0; g < weights.length; g++) spread += weights[g] * (estimates[g][i] - mean) ** 2;
      estimate[i] = mean;
      error[i] = degrees ? Math.sqrt(spread / degrees) : Infinity;
    }
    return { estimate, error, reach: degrees ? error.map((one) => student * one) : error };
  }

  /** Sums of each group over its rows, to estimates and the groups' shares. */
  meansOf(sums, gain = 1) {
    sums.forEach((sum, g) => { for (let i = 0; i < sum.length; i++) sum[i] /= gain * this.sizes[g]; });
    return { estimates: sums, weights: this.sizes.map((size) => size / this.rows) };
  }

  get sumsOfGroups() {
    return (count) => this.sizes.map(() => new Float64Array(count));
  }
}

export class Race extends Grouped {
  constructor(parameters, domain) {
    super(parameters, domain);
    const [low, high] = domain.bounds(this.metric);
    this.hashes = drawHashes(this.kernel, domain.widths, this.rows, this.groups, this.seed);
    this.placeColumns(low, high, parameters.width);
  }

  /** Gives every cell inside the bounds a column. */
  placeColumns(low, high, width) {
    const random = new PublicRandom(this.seed, 0);
    const multipliers = this.hashes.map((row) => row.map(() => random.word()));
    const addends = this.hashes.map(() => random.word());
    this.rowsOf = this.hashes.map((row, r) => {
      let [stride, logs] = [1, 0];
      const each = row.map((hash, h) => {
        let [least, most, far] = [0, 0, 0];
        for (let k = 0; k < hash.a.length; k++) {
          const [one, other] = [low, high].map((bound) => hash.a[k] * bound[hash.at ? hash.at[k] : k]);
          least += Math.min(one, other);
          most += Math.max(one, other);
          far += Math.max(Math.abs(one), Math.abs(other));
        }
        const slack = 1e-12 * (far + Math.abs(hash.b));
        const first = Math.floor(least + hash.b - slack);
        const cells = hash.side ? 2 : Math.min(Math.floor(most + hash.b + slack) - first + 1, MOST_CELLS);
        if (!Number.isFinite(cells)) throw new ReaderError("The bounds of the file reach too many bandwidths from zero to be told apart.");
        const own = { ...hash, b: hash.side ? 1 : hash.b - first, cells, stride,
          high: Number(multipliers[r][h] >> 32n), low: Number(multipliers[r][h] & 0xffffffffn) };
        stride *= cells;
        logs += Math.log2(cells);
        return own;
      });
      const combinations = Math.round(2 ** Math.min(logs, 60));
      const rehashed = combinations > width;
      for (const hash of each) {
        hash.rehashed = rehashed; // what each cell adds to the key is worked out once where there are few
        hash.keys = hash.cells > MOST_KEYS ? null : filled(2 * hash.cells, (i) => keyOf(hash, i >> 1)[i & 1]);
      }
      return { hashes: each, rehashed, reachable: Math.min(combinations, width),
        high: rehashed ? Number(addends[r] >> 32n) : 0, low: rehashed ? Number(addends[r] & 0xffffffffn) : 0 };
    });
    this.hashes = null;
    this.lookups = this.rowsOf.reduce((sum, { hashes }) => sum + hashes.length, 0);
    this.width = Math.max(...this.rowsOf.map(({ reachable }) => reachable));
    this.shape = [this.rows, this.width];
  }

  total(table) {
    let sum = 0;
    this.rowsOf.forEach(({ reachable }, r) => { for (let c = 0; c < reachable; c++) sum += table[r * this.width + c]; });
    return sum / this.rows;
  }

  totalVariance(variance) {
    return (variance * this.rowsOf.reduce((sum, { reachable }) => sum + reachable, 0)) / this.rows ** 2;
  }

  groupEstimates(table, records, { count, coordinates }) {
    const sums = this.sumsOfGroups(count);
    const [line, nothing] = [new Line(1), new Line(1)];
    this.eachRow(table, records, (row, counters, g) => {
      for (let i = 0; i < count; i++) {
        for (const hash of row.hashes) line.enter(hash, cellAt(hash, hash.b + along(hash, coordinates, i)), 1, 0);
        line.add(nothing, counters, sums[g], i);
      }
    });
    return this.meansOf(sums);
  }

  /** The same at all combinations of places along two axes, line by line, averaged over `rest`, each a list of places of one column. */
  groupEstimatesAcross(table, records, across, up, rest) {
    const sums = this.sumsOfGroups(across.count * up.count);
    const [line, kept] = [new Line(across.count, isSteady(across)), new Line(across.count, isSteady(across))];
    this.eachRow(table, records, ({ hashes }, counters, g) => {
      kept.clear();
      const [turning, rising, still] = [[], [], []];
      for (const hash of hashes) {
        const [beside, above] = [across, up].map((axis) => filled(axis.count, (i) => along(hash, axis.coordinates, i)));
        const held = filled(rest.length, (m) => rest[m].reduce((sum, { coordinates }) => sum + along(hash, coordinates, 0), hash.b));
        if (differ(beside) && !differ(above) && !differ(held)) kept.go(hash, held[0] + above[0], beside); // as it is in each line
        else (differ(beside) ? turning : differ(above) ? rising : still).push({ hash, beside, above, held });
      }
      for (let m = 0; m < rest.length; m++) {
        const stay = (sign) => { for (const { hash, above, held } of still) kept.enter(hash, cellAt(hash, held[m] + above[0]), sign, 0); };
        stay(1);
        for (let j = 0; j < up.count; j++) {
          for (const { hash, above, held } of rising) line.enter(hash, cellAt(hash, held[m] + above[j]), 1, 0);
          for (const { hash, beside, above, held } of turning) line.go(hash, held[m] + above[j], beside);
          line.add(kept, counters, sums[g], j * across.count);
        }
        stay(-1);
      }
    });
    return this.meansOf(sums, rest.length);
  }

  /** Goes through rows, each with its counters and its group. */
  eachRow(table, records, heard) {
    const [background, gain] = [records / this.width, 1 / (1 - 1 / Math.max(this.width, 2))];
    let [g, end] = [0, this.sizes[0]];
    this.rowsOf.forEach((row, r) => {
      while (r >= end) end += this.sizes[++g];
      const own = table.subarray(r * this.width, (r + 1) * this.width);
      heard(row, { row, own, background: row.rehashed ? background : 0, gain: row.rehashed ? gain : 1, width: this.width }, g);
    });
  }
}

const differ = (numbers) => numbers.some((one) => one !== numbers[0]);

/** A line of places as one row sees it: where its hashes enter other cells, and with that another counter. */
class Line {
  count; steady;

  /** @param {number} count @param {boolean} [steady] whether every hash goes one way along it */
  constructor(count, steady = true) {
    Object.assign(this, { count, steady });
    // By how much the key of a row and the number of hashes outside of their cells change at each place. A key has 64
    // bits, in two halves whose sums floating point holds exactly; where cells do not share columns it is the column.
    this.high = new Float64Array(count);
    this.low = new Float64Array(count);
    this.outside = new Int32Array(count);
    this.changes = new Uint32Array(Math.ceil(count / 32)); // a bit for each place where any of it does
  }

  clear() {
    for (const one of [this.high, this.low, this.outside, this.changes]) one.fill(0);
  }

  /** From a place on a hash is in a cell (`sign` 1), or not in it any more (-1). */
  enter(hash, whole, sign, i) {
    const { cells, keys } = hash;
    const cell = cells === MOST_CELLS ? whole - Math.floor(whole / MOST_CELLS) * MOST_CELLS : whole;
    this.changes[i >> 5] |= 1 << (i & 31);
    if (!(cell >= 0 && cell < cells)) this.outside[i] += sign;
    else if (keys) {
      this.high[i] += sign * keys[2 * cell];
      this.low[i] += sign * keys[2 * cell + 1];
    } else {
      const key = keyOf(hash, cell);
      this.high[i] += sign * key[0];
      this.low[i] += sign * key[1];
    }
  }

  /** Takes a hash along from cell to cell: where cells are wide the next is guessed, and then found exactly. */
  go(hash, start, shares) {
    const { count } = this;
    const last = shares[count - 1];
    const cells = (last - shares[0]) / (count - 1); // that a step takes
    const leaps = this.steady && Math.abs(cells) < WIDE;
    const from = cells > 0 ? start + shares[0] - 1 : start + shares[0];
    let cell = cellAt(hash, start + shares[0]);
    this.enter(hash, cell, 1, 0);
    if (leaps && cellAt(hash, start + last) === cell) return;
    for (let next = 1; next < count; next++) {
      if (leaps) {
        const least = next;
        next = Math.max(least, Math.min(Math.ceil((cell - from) / cells), count));
        while (next > least && cellAt(hash, start + shares[next - 1]) !== cell) next--;
        if (next === count) return;
      }
      const other = cellAt(hash, start + shares[next]);
      if (other === cell) continue;
      this.enter(hash, cell, -1, next);
      this.enter(hash, other, 1, next);
      cell = other;
    }
  }

  /** Adds to a sum, from a place on, what the counters say along the line, which is forgotten, and a line that is kept. */
  add(kept, { row, own, background, gain, width }, sum, from) {
    const { count, high, low, outside, changes } = this;
    let [keyHigh, keyLow, beyond, found, i] = [row.high, row.low, 0, 0, 0];
    for (let block = 0; block < changes.length; block++) {
      let left = changes[block] | kept.changes[block];
      changes[block] = 0;
      while (left) {
        const place = 32 * block + 31 - Math.clz32(left & -left);
        left &= left - 1;
        for (; i < place; i++) sum[from + i] += found;
        keyHigh += high[place] + kept.high[place];
        keyLow += low[place] + kept.low[place];
        beyond += outside[place] + kept.outside[place];
        high[place] = low[place] = outside[place] = 0;
        const at = row.rehashed ? upperProduct((keyHigh + Math.floor(keyLow / 2 ** 32)) >>> 0, width) : keyLow;
        found = beyond ? 0 : (own[at] - background) * gain; // nobody inside the bounds can be beyond the cells
      }
    }
    for (; i < count; i++) sum[from + i] += found;
  }
}

/** What one place adds to a hash, of those coordinates that it has. */
const along = ({ at, a }, coordinates, i) => {
  let sum = 0;
  for (let k = 0; k < a.length; k++) {
    const own = coordinates[at ? at[k] : k];
    if (own) sum += a[k] * own[i];
  }
  return sum;
};

/** Whether a hash goes one way along an axis, as it does along the rising places of one coordinate. */
const isSteady = ({ coordinates }) => {
  const own = Object.values(coordinates);
  return own.length === 1 && own[0].every((one, i) => !i || one > own[0][i - 1]);
};

const cellAt = ({ side }, value) => (side ? Number(value >= 1) : Math.floor(value));

/** What a cell of a hash adds to the key of its row, as the two halves of 64 bits. */
const keyOf = ({ high, low, stride, rehashed }, cell) =>
  rehashed ? [(upperProduct(low, cell) + Math.imul(high, cell)) >>> 0, Math.imul(low, cell) >>> 0] : [0, stride * cell];

/** To 40 significant binary digits. */
const significantly = (number) => {
  if (!number) return 0;
  let exponent = Math.floor(Math.log2(Math.abs(number))) + 1;
  let mantissa = number / 2 ** exponent;
  if (Math.abs(mantissa) >= 1) mantissa /= 2 ** (exponent += 1, 1);
  if (Math.abs(mantissa) < 0.5) mantissa *= 2 ** (exponent -= 1, 1);
  return onGrid(mantissa) * 2 ** exponent;
};

const cauchyLength = (uniform, d) => {
  const share = Math.max(betaQuantile(0.5, d / 2, uniform), 1e-300);
  return Math.sqrt((1 - share) / share);
};

/** Lengths of frequencies whose direction is uniform: how many uniform numbers one takes, and the length from them. */
const RADIAL = {
  gaussian: [1, (u, d, p) => Math.sqrt(p) * chiLength(u[0], d)],
  exponential: [1, (u, d, p) => p * cauchyLength(u[0], d)],
  "smooth-squared": [2, (u, d, p) => Math.sqrt(2 * gammaQuantile(p, u[0])) * chiLength(u[1], d)],
  smooth: [2, (u, d, p) => gammaQuantile(p, u[0]) * cauchyLength(u[1], d)],
};

/** Frequencies of every row in radians a unit of each coordinate. */
const drawFrequencies = (kernel, widths, rows, groups, seed, family) => {
  const d = widths.reduce((a, b) => a + b, 0);
  if (kernel.parts) {
    const parts = kernel.parts.map((part) => drawFrequencies(part, widths, rows, groups, seed, family));
    const random = new PublicRandom(seed, family());
    if (kernel.name === "mixture") return mixtureChoice(kernel.weights, rows, groups, random).map((part, r) => parts[part][r]);
    const signs = random.uniforms(parts.length * rows).map((one) => (one < 0.5 ? -1 : 1));
    return parts[0].map((_, r) => filled(d, (k) =>
      parts.reduce((sum, part, p) => sum + signs[p * rows + r] * part[r][k], 0)));
  }
  const [lengths, power] = [coordinateBandwidths(kernel.bandwidth, widths), kernel.power ?? 1];
  const own = family();
  if (RADIAL[kernel.name]) {
    const [taken, lengthOf] = RADIAL[kernel.name];
    const each = taken + uniformsForDirection(d);
    const uniforms = groupedUniforms(rows, groups, each, seed, own);
    const units = directions(rows, (r, k) => uniforms[r * each + taken + k], d, groups, seed, own);
    return units.map((unit, r) => {
      const length = lengthOf(uniforms.subarray(r * each, r * each + taken), d, power);
      return unit.map((one, k) => (length * one) / lengths[k]);
    });
  }
  const scaled = kernel.name === "smooth-l1";
  if (!scaled && kernel.name !== "laplacian") throw new ReaderError(`The kernel "${kernel.name}" has no random features that are known.`);
  const each = d + (scaled ? 1 : 0);
  const uniforms = groupedUniforms(rows, groups, each, seed, own);
  return Array.from({ length: rows }, (_, r) => {
    const scale = scaled ? gammaQuantile(power, uniforms[r * each + d]) : power;
    return filled(d, (k) => (scale * Math.tan(Math.PI * (uniforms[r * each + k] - 0.5))) / lengths[k]);
  });
};

/** The same in turns a unit, as files mean them. */
const wavesOf = (kernel, widths, rows, groups, seed) =>
  drawFrequencies(kernel, widths, rows, groups, seed, countingFrom(2_000_001)).map((row) => row.map((one) => significantly(one / (2 * Math.PI))));

/** Those of a Gaussian kernel with the first public seed, which models have: turns a unit of each coordinate. */
export const gaussianWaves = (bandwidth, dimensions, rows) => wavesOf({ name: "gaussian", bandwidth }, [dimensions], rows, 1, 0);

/**
 * Fewer places of one coordinate, from which polynomials tell all waves between its ends to 1e-14 (the Jacobi-Anger
 * expansion: |J_n(t)| is at most (t/2)^n / n!), and by which matrix they do; null where they are not fewer.
 */
const fewerPlaces = ({ count, coordinates }, waves) => {
  const own = Object.keys(coordinates);
  if (own.length !== 1) return null;
  const values = coordinates[own[0]];
  const [middle, half] = [1, -1].map((sign) => (values.reduce((a, b) => Math.max(a, b)) + sign * values.reduce((a, b) => Math.min(a, b))) / 2);
  const turn = Math.PI * half * waves.reduce((most, wave) => Math.max(most, Math.abs(wave[own[0]])), 0);
  let nodes = 1;
  for (let term = turn; term > 1e-14 || nodes < 2 * turn; term *= turn / nodes) if (++nodes > 0.7 * count) return null;
  const angles = Array.from({ length: nodes }, (_, j) => ((j + 0.5) * Math.PI) / nodes);
  const places = filled(nodes, (j) => middle + half * Math.cos(angles[j]));
  const matrix = Array.from(values, (value) => {
    const met = places.indexOf(value);
    const row = filled(nodes, (j) => (met < 0 ? ((j % 2 ? -1 : 1) * Math.sin(angles[j])) / (value - places[j]) : Number(j === met)));
    const whole = row.reduce((a, b) => a + b, 0);
    return row.map((one) => one / whole);
  });
  return { places: { count: nodes, coordinates: Object.assign(Array(coordinates.length), { [own[0]]: places }) }, matrix };
};

const paddedTo = (dimensions) => 2 ** Math.ceil(Math.log2(dimensions));

export class Features extends Grouped {
  constructor(parameters, domain) {
    super(parameters, domain);
    const { wave, transform } = parameters;
    const steps = { circle: 1 << 16, quadrant: 4 }[wave];
    if (!steps) throw new ReaderError("The file has waves that this reader does not know; a newer one may.");
    this.delay = 0.5 / steps;
    const along = filled(steps, (m) => this.alongWave(wave, m, steps));
    this.gain = (along.reduce((a, b) => a + b, 0) / steps) * (Math.sin(Math.PI / steps) / (Math.PI / steps));
    const shifts = new PublicRandom(this.seed, 2_000_000).uniforms(this.groups);
    this.phases = Float64Array.from(this.sizes.flatMap((size, g) => Array.from({ length: size }, (_, turn) => (shifts[g] + turn * GOLDEN) % 1)));
    this.shape = [this.rows, 2];
    this.waves = transform === "fast" ? this.structured() : wavesOf(this.kernel, domain.widths, this.rows, this.groups, this.seed);
  }

  /** How far the entry of a step points along its own direction. */
  alongWave(wave, m, steps) {
    if (wave === "quadrant") return 1;
    const angle = (2 * Math.PI * m) / steps;
    const entry = (one) => (Math.abs(one) < 1e-9 ? 0 : Math.abs(Math.abs(one) - 1) < 1e-15 ? Math.sign(one) * 32768 : Math.trunc(32768 * one));
    return entry(Math.cos(angle)) * Math.cos(angle) + entry(Math.sin(angle)) * Math.sin(angle);
  }

  /** Frequencies in blocks of signs, Walsh-Hadamard transforms and normal numbers, as rows of a matrix. */
  structured() {
    const [d, [taken, lengthOf]] = [this.domain.dimensions, RADIAL[this.kernel.name] ?? []];
    if (!taken) throw new ReaderError("The fast transform has no frequencies of this kernel.");
    const size = paddedTo(d);
    const blocks = this.sizes.flatMap((rows) => groupSizes(rows, Math.ceil(rows / size)));
    const random = new PublicRandom(this.seed, 3_000_002);
    const signs = blocks.map(() => filled(size, () => (random.word() >> 63n ? 1 : -1)));
    const uniforms = groupedUniforms(this.rows, this.groups, taken, this.seed, 3_000_001);
    const lengths = coordinateBandwidths(this.kernel.bandwidth, this.domain.widths);
    let r = 0;
    return blocks.flatMap((rows, block) => {
      const normals = random.uniforms(size).map(normalQuantile);
      const whole = Math.sqrt(size * normals.reduce((sum, one) => sum + one * one, 0));
      const made = Array.from({ length: rows }, () => new Float64Array(d));
      for (let k = 0; k < d; k++) {
        const lane = new Float64Array(size);
        lane[k] = signs[block][k];
        walshHadamard(lane);
        for (let j = 0; j < size; j++) lane[j] *= significantly(normals[j] / whole);
        walshHadamard(lane);
        for (let row = 0; row < rows; row++) made[row][k] = lane[row] / lengths[k];
      }
      return made.map((row) => {
        const length = significantly(lengthOf(uniforms.subarray(r * taken, (r + 1) * taken), size, this.kernel.power ?? 1) / (2 * Math.PI));
        r += 1;
        return row.map((one) => one * length);
      });
    });
  }

  groupEstimates(table, records, { count, coordinates }) {
    const sums = this.sumsOfGroups(count);
    let [r, g, end] = [0, 0, this.sizes[0]];
    for (const wave of this.waves) {
      while (r >= end) end += this.sizes[++g];
      const [cosine, sine, phase, sum] = [table[2 * r], table[2 * r + 1], this.phases[r] - this.delay, sums[g]];
      for (let i = 0; i < count; i++) {
        let turn = phase;
        for (let k = 0; k < wave.length; k++) turn += wave[k] * coordinates[k][i];
        const angle = 2 * Math.PI * (turn - Math.round(turn));
        sum[i] += cosine * Math.cos(angle) + sine * Math.sin(angle);
      }
      r += 1;
    }
    return this.meansOf(sums, this.gain);
  }

  /**
   * The same at all combinations of places along two axes, averaged over `rest`, each a list of places of one column:
   * the cosine of a sum is a sum of products, so that a picture is a product of matrices.
   */
  groupEstimatesAcross(table, records, across, up, rest) {
    const fewer = [up, across].map((one) => fewerPlaces(one, this.waves));
    if (fewer[0] && fewer[1]) {
      const { estimates, weights } = this.groupEstimatesAcross(table, records, fewer[1].places, fewer[0].places, rest);
      return { estimates: estimates.map((one) => contracted(one, fewer.map(({ places }) => places.count), fewer.map(({ matrix }) => matrix))), weights };
    }
    const sums = this.sumsOfGroups(across.count * up.count);
    const [n, m] = [across.count, up.count];
    const turnsOf = (wave, { count, coordinates }, first) => filled(count, (i) => {
      let turn = first;
      for (let k = 0; k < wave.length; k++) if (coordinates[k]) turn += wave[k] * coordinates[k][i];
      return 2 * Math.PI * (turn - Math.round(turn));
    });
    let [r, g, end] = [0, 0, this.sizes[0]];
    const [along, beside] = [new Float64Array(n), new Float64Array(n)];
    for (const wave of this.waves) {
      while (r >= end) end += this.sizes[++g];
      const [cosine, sine, sum] = [table[2 * r], table[2 * r + 1], sums[g]];
      let [real, imaginary] = [0, 0]; // of the mean over the rest of a turn of their phases
      for (const places of rest) {
        const angle = places.reduce((sum, place) => sum + turnsOf(wave, place, 0)[0], 0);
        real += Math.cos(angle) / rest.length;
        imaginary += Math.sin(angle) / rest.length;
      }
      const [turned, sideways] = [cosine * real + sine * imaginary, sine * real - cosine * imaginary];
      turnsOf(wave, across, this.phases[r] - this.delay).forEach((angle, i) => {
        const [c, s] = [Math.cos(angle), Math.sin(angle)];
        along[i] = turned * c + sideways * s;
        beside[i] = sideways * c - turned * s;
      });
      const angles = turnsOf(wave, up, 0);
      for (let j = 0; j < m; j++) {
        const [c, s, start] = [Math.cos(angles[j]), Math.sin(angles[j]), j * n];
        for (let i = 0; i < n; i++) sum[start + i] += c * along[i] + s * beside[i];
      }
      r += 1;
    }
    return this.meansOf(sums, this.gain);
  }
}

/** A linear map of points to fewer dimensions, drawn from a seed: what it makes of each place. */
export const projectionOf = (facts, source, stream) => {
  const { name, target } = facts;
  const seed = seedOf(facts.seed);
  const random = (label) => new PublicRandom(seed, label, stream);
  if (name === "fast") {
    const [size, signs] = [paddedTo(source), Array.from(random(33).words(source), (word) => (word >> 63n ? 1 : -1))];
    const words = random(34).words(size);
    const order = Array.from(words.keys()).sort((a, b) => (words[a] < words[b] ? -1 : words[a] > words[b] ? 1 : a - b));
    const sample = order.slice(0, target).sort((a, b) => a - b);
    return (point) => {
      const lane = new Float64Array(size);
      point.forEach((one, k) => { lane[k] = signs[k] * one; });
      walshHadamard(lane);
      return sample.map((place) => lane[place] * (1 / Math.sqrt(target)));
    };
  }
  if (name !== "gaussian" && name !== "orthogonal") throw new ReaderError("The file has a projection that this reader does not know.");
  const gaussian = () => {
    const entries = random(31).uniforms(target * source).map(normalQuantile);
    return Array.from({ length: target }, (_, r) => entries.slice(r * source, (r + 1) * source).map((one) => onGrid(one / Math.sqrt(target))));
  };
  const orthogonal = () => orthonormal(random(32).uniforms(source * target).map(normalQuantile), source, target)
    .map((row) => row.map((one) => onGrid(one * Math.sqrt(source / target))));
  const rows = name === "gaussian" ? gaussian() : orthogonal();
  return (point) => rows.map((row) => row.reduce((sum, one, k) => sum + one * point[k], 0));
};

/** Bound on the coordinates that a vector of length 1 is mapped to. */
const reachOf = ({ name, target }, source) =>
  name === "gaussian" ? 8 / Math.sqrt(target) : Math.min(8 / Math.sqrt(target), Math.sqrt(source / target));

const seesAngles = (kernel) => (kernel.parts ? kernel.parts.some(seesAngles) : kernel.name === "angular");
const SLACK = 1 + 2 ** -20, INNER_GROUPS = 2, PARTS_LABEL = 35;

/** A sketch of projected points: every group of rows has a projection and a seed of its own. */
export class Projected extends Grouped {
  constructor({ inner, projection, radius }, domain) {
    super(inner.parameters, domain);
    const made = { race: Race, features: Features }[inner.mechanism];
    if (!made) throw new ReaderError("The file holds a projected sketch of a kind that this reader does not know.");
    const bound = reachOf(projection, domain.dimensions) * radius * SLACK;
    const within = new Domain({ columns: [{ kind: "vector", name: "projected", length: projection.target, low: -bound, high: bound }] });
    const random = new PublicRandom(this.seed, PARTS_LABEL);
    this.parts = this.sizes.map((size) => {
      const seed = (random.word() << 64n) | random.word();
      return new made({ ...inner.parameters, rows: size, groups: INNER_GROUPS, seed: seed.toString(16) }, within);
    });
    this.projections = this.sizes.map((_, g) => projectionOf(projection, domain.dimensions, projection.stream + g));
    this.shape = [this.rows, Math.max(...this.parts.map((part) => part.shape[1]))];
    this.lookups = this.rows * projection.target + this.groups * domain.dimensions * projection.target; // of a place, about
    const [low, high] = domain.bounds("l2");
    this.centre = low.map((one, k) => (seesAngles(this.kernel) ? 0 : (one + high[k]) / 2));
  }

  /** The corner of the table that holds one group's rows. */
  tableOf(table, group) {
    const [first, width, own] = [this.sizes.slice(0, group).reduce((a, b) => a + b, 0), this.shape[1], this.parts[group].shape[1]];
    const found = new Float64Array(this.sizes[group] * own);
    for (let r = 0; r < this.sizes[group]; r++) for (let c = 0; c < own; c++) found[r * own + c] = table[(first + r) * width + c];
    return found;
  }

  total(table) {
    return this.parts.reduce((sum, part, g) => sum + (this.sizes[g] / this.rows) * part.total(this.tableOf(table, g)), 0);
  }

  totalVariance(variance) {
    return this.parts.reduce((sum, part, g) => sum + (this.sizes[g] / this.rows) ** 2 * part.totalVariance(variance), 0);
  }

  groupEstimates(table, records, { count, coordinates }) {
    const centred = Array.from({ length: count }, (_, i) => this.centre.map((middle, k) => coordinates[k][i] - middle));
    const estimates = this.parts.map((part, g) => {
      const images = centred.map(this.projections[g]);
      const points = { count, coordinates: Array.from({ length: images[0]?.length ?? 0 }, (_, k) => Float64Array.from(images, (image) => image[k])) };
      const { estimates: inside, weights } = part.groupEstimates(this.tableOf(table, g), records, points);
      return inside[0].map((_, i) => inside.reduce((sum, one, h) => sum + weights[h] * one[i], 0));
    });
    return { estimates, weights: this.sizes.map((size) => size / this.rows) };
  }
}
