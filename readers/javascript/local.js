// Counted local reports: how many people gave each answer, from the sums that a file holds and the oracle that it names.
//
// Names and formulas are those of `core.local`. A report speaks for the truth E = A/B times as often as for anything else.
import { ReaderError, readArchive } from "./archive.js";
import { filled, halfEven, total, walshHadamard } from "./arrays.js";
import { nearestWithTotal } from "./guesses.js";
import { geometric } from "./kernels.js";
import { PublicRandom, cellOf, hashOf, seedOf } from "./random.js";
import { normalQuantile } from "./special.js";

const WEIGHT = 2 ** 32, FLH_FAMILY = 0x464c48, MOST_ANSWERS = 1 << 24, MOST_READ = 2 ** 30;

const bitsOf = (number) => 32 - Math.clz32(number);
const pointsOf = (field, coordinates) => Math.round((field ** coordinates - 1) / (field - 1));

/**
 * Of oracles whose reports speak for some values each: how often one speaks for a value of somebody else, and how much
 * more often for the own one. `more` is E - 1, `d` the number of values.
 */
const CHANCES = {
  de: (more, d) => [1 / (more + d), more / (more + d)],
  oue: (more) => [1 / (more + 2), more / (2 * (more + 2))],
  sue: (more) => [1 / (1 + Math.sqrt(1 + more)), more / (1 + Math.sqrt(1 + more)) ** 2],
  ss: (more, d, { size }) => {
    const all = size * more + d;
    const apart = (size * (d - size) * more) / (all * (d - 1));
    return [(size * (1 + more)) / all - apart, apart];
  },
  blh: (more) => ofCells(more, 2),
  olh: (more) => ofCells(more, halfEven(1 + more) + 1),
  flh: (more) => ofCells(more, halfEven(1 + more) + 1),
  pgr: (more, d, { field, coordinates }) => {
    const [every, own, shared] = [0, 1, 2].map((less) => pointsOf(field, coordinates - less));
    const all = own * more + every;
    return [(shared * more + own) / all, ((own - shared) * more) / all];
  },
};
const ofCells = (more, cells) => [1 / cells, (more * (cells - 1)) / (cells * (more + cells))];

/** A bijection of the numbers of 32 bits under which evenly spaced ones no longer are. */
const scattered = (value) => {
  let x = value;
  for (const [shift, factor] of [[16, 0x85ebca6b], [13, 0xc2b2ae35]]) x = Math.imul(x ^ (x >>> shift), factor);
  return (x ^ (x >>> 16)) >>> 0;
};

/** How many reports speak for each value: of public hash functions the cells of every one of them are looked up. */
const supportsOfHashes = (table, d, { functions, seed, scattered: isScattered = 0 }) => {
  const cells = table.length / functions;
  const random = new PublicRandom(seedOf(seed), FLH_FAMILY);
  const hashes = Array.from({ length: functions }, () => hashOf(random.word(), random.word() >> 32n << 32n));
  const found = new Float64Array(d);
  for (let x = 0; x < d; x++) {
    const key = isScattered ? scattered(x) : x;
    for (let s = 0; s < functions; s++) found[x] += table[s * cells + cellOf(hashes[s], key, cells)];
  }
  return found;
};

/** The coordinates of a point of a projective space by its place: those that begin with 1 first, then those with 0, 1 … */
const pointAt = (at, field, coordinates) => {
  let [place, lead, count] = [at, 0, field ** (coordinates - 1)];
  for (; place >= count; lead++) [place, count] = [place - count, count / field];
  const vector = new Float64Array(coordinates);
  vector[lead] = 1;
  for (let i = coordinates - 1; i > lead; i--) [vector[i], place] = [place % field, Math.floor(place / field)];
  return vector;
};

/** How many reported points are orthogonal to that of each value. */
const supportsOfPoints = (table, d, { field, coordinates }) => {
  const points = Array.from(table, (_, place) => pointAt(place, field, coordinates));
  return filled(d, (value) => {
    let found = 0;
    for (let y = 0; y < points.length; y++) {
      let product = 0;
      for (let i = 0; i < coordinates; i++) product += points[value][i] * points[y][i];
      if (product % field === 0) found += table[y];
    }
    return found;
  });
};

/**
 * What an oracle makes of its sums: estimates without bias, their variance where nobody has the value, and what each
 * person more adds to that. Sums of another size than the oracle's, or too many, are refused.
 */
const ORACLES = {
  hm: (table, d, people, more, { coefficients }) => {
    const size = 2 ** bitsOf(d - 1);
    const shrinking = more / (more + 2 ** coefficients);
    return { size, read: () => ({ estimate: walshHadamard(table.slice()).slice(0, d).map((one) => one / (coefficients * shrinking)),
      nothing: new Float64Array(d).fill(people / (coefficients * shrinking ** 2)), each: (coefficients - 1) / (coefficients * shrinking) - 1 }) };
  },
  hr: (table, d, people, more, { blocks = 2 ** (bitsOf(Math.min(Math.floor(1 + more), 2 * d)) - 1) }) => {
    const width = 2 ** bitsOf(Math.ceil(d / blocks));
    const shrinking = more / (more + 2 * blocks);
    return { size: blocks * width, read: () => {
      const [estimate, nothing] = [new Float64Array(d), new Float64Array(d)];
      for (let first = 0, block = 0; first < d; first += width - 1, block++) {
        const counts = table.slice(block * width, (block + 1) * width);
        const all = total(counts) / shrinking ** 2;
        walshHadamard(counts).slice(1, 1 + d - first).forEach((one, i) => { [estimate[first + i], nothing[first + i]] = [one / shrinking, all]; });
      }
      return { estimate, nothing, each: -1 };
    } };
  },
};

const pure = (name, table, d, people, more, parameters) => {
  const [other, apart] = CHANCES[name](more, d, parameters);
  const each = (1 - 2 * other - apart) / apart;
  const alone = (people * other * (1 - other)) / apart ** 2;
  const counted = (supports) => supports.map((one) => (one - people * other) / apart);
  const even = (estimate) => ({ estimate, nothing: new Float64Array(d).fill(alone), each });
  if (name === "flh") {
    const cells = Math.round(1 / other);
    return { size: parameters.functions * cells, work: parameters.functions * d, read: () => {
      const found = even(counted(supportsOfHashes(table, d, parameters)));
      const known = Math.max(found.estimate.reduce((sum, one) => sum + one ** 2, 0) - d * alone, 0);
      const shared = (one) => Math.max(known - Math.max(one, 0) ** 2, 0) / (parameters.functions * (cells - 1));
      return { ...found, nothing: found.estimate.map((one) => alone + shared(one)) }; // values that collide do so for everybody
    } };
  }
  if (name !== "pgr") return { size: d, read: () => even(counted(table)) };
  const size = pointsOf(parameters.field, parameters.coordinates);
  return { size, work: size * d * parameters.coordinates, read: () => even(counted(supportsOfPoints(table, d, parameters))) };
};

const ENOUGH = 30, FITTED = 1000, GRID = 120, FIT_STEPS = 150;

/** How likely each estimate is under each count by normal noise, times what is known of counts, as shares of all. */
const posterior = (estimate, error, counts, prior) => {
  const logs = counts.map((count) => -0.5 * ((estimate - count) / error) ** 2);
  const most = Math.max(...logs);
  const found = logs.map((one, k) => Math.exp(one - most) * prior[k]);
  const sum = total(found);
  return found.map((one) => one / sum);
};

/** Means of what each count may be, after what all estimates together say of counts; see `post_processing.shrunk`. */
const shrunk = (estimate, people, error) => {
  if (estimate.length < ENOUGH) return nearestWithTotal(estimate, people);
  const falling = Array.from(estimate.keys()).sort((a, b) => estimate[b] - estimate[a]);
  const skip = Math.max(1, Math.ceil((falling.length - FITTED) / FITTED));
  const fitted = falling.filter((_, i) => i < FITTED || (i - FITTED) % skip === 0);
  const weights = fitted.map((_, i) => (i < FITTED ? 1 : skip));
  const whole = total(weights);
  const counts = Float64Array.of(0, ...geometric(Math.min(...error) / 50, Math.max(...estimate, ...error), GRID));
  let prior = counts.map(() => 1 / counts.length);
  const likely = fitted.map((i) => posterior(estimate[i], error[i], counts, counts.map(() => 1)));
  for (let step = 0; step < FIT_STEPS; step++) {
    const next = new Float64Array(counts.length);
    likely.forEach((row, i) => {
      let sum = 0;
      for (let k = 0; k < row.length; k++) sum += row[k] * prior[k];
      for (let k = 0; k < row.length; k++) next[k] += (weights[i] / whole) * ((row[k] * prior[k]) / sum);
    });
    prior = next;
  }
  return nearestWithTotal(estimate.map((one, i) => posterior(one, error[i], counts, prior).reduce((sum, share, k) => sum + share * counts[k], 0)), people);
};

/** The largest until their sum passes the number of reports, that one too; all others become zero. */
const largest = (estimate, people) => {
  const [found, falling] = [new Float64Array(estimate.length), Array.from(estimate.keys()).sort((a, b) => estimate[b] - estimate[a])];
  let sum = 0;
  for (const i of falling) {
    found[i] = Math.max(estimate[i], 0);
    if ((sum += found[i]) > people) break;
  }
  return found;
};

/** Ways to make estimates plausible, which cost no privacy. */
const POST = { base: (estimate) => estimate, "base-pos": (estimate) => estimate.map((one) => Math.max(one, 0)),
  "norm-sub": nearestWithTotal, "prob-simplex": nearestWithTotal, "base-cut": largest, shrunk };

/** Counted reports of a survey. */
export class LocalReports {
  answers; level; manifest; people; refused; ways;

  constructor(manifest, table) {
    const { survey, people, refused } = manifest;
    if (!(people >= 1)) throw new ReaderError("The file counts nobody.");
    Object.assign(this, { manifest, people, refused, question: String(survey.question) });
    if (survey.search) this.take(manifest);
    else if (survey.oracle) this.count(survey, table);
    else throw new ReaderError("The file is a sketch of texts that this reader cannot ask: open it with Frostglass.");
  }

  /** Texts that were found, with what was said of them. */
  take({ found, level }) {
    this.answers = found.map(([text]) => String(text));
    this.level = level;
    this.ways = ["base", "base-pos"];
    const [estimate, low, high] = [1, 2, 3].map((place) => Float64Array.from(found, (row) => row[place]));
    this.ends = () => ({ estimate, low, high });
  }

  count({ answers, oracle, surplus }, table) {
    const { name, parameters } = oracle;
    const [more, d] = [Number(surplus) / WEIGHT, answers.length];
    const known = Object.hasOwn(CHANCES, name) || Object.hasOwn(ORACLES, name);
    if (!known || !(more > 0) || !(d >= 2 && d <= MOST_ANSWERS)) throw new ReaderError("The file is of a survey that this reader does not know; a newer one may.");
    const made = ORACLES[name] ? ORACLES[name](table, d, this.people, more, parameters) : pure(name, table, d, this.people, more, parameters);
    if (made.size !== table.length) throw new ReaderError("The table of the file has another size than its survey says.");
    if (made.work > MOST_READ) throw new ReaderError("The survey has more answers than a page can count: open it with Frostglass.");
    this.answers = answers;
    this.ways = Object.keys(POST);
    let read = null;
    this.ends = (level) => {
      const { estimate, nothing, each } = read ??= made.read();
      const square = normalQuantile(0.5 + level / 2) ** 2;
      const middle = estimate.map((one) => one + (square * each) / 2);
      const reach = estimate.map((one, i) => Math.sqrt(Math.max(square * (nothing[i] + each * one) + ((square * each) / 2) ** 2, 0)));
      return { estimate, low: middle.map((one, i) => one - reach[i]), high: middle.map((one, i) => one + reach[i]) };
    };
  }

  /**
   * How many people gave each answer, by one of the `ways` to make that plausible, and the ends of intervals.
   * @param {string} way
   */
  table(way = "base", level = this.level ?? 0.95) {
    if (!this.ways.includes(way)) throw new ReaderError("These answers are not made plausible in this way.");
    if (this.level && level !== this.level) throw new ReaderError("Intervals of found texts hold as often as their search was asked to.");
    if (!(level > 0 && level < 1)) throw new ReaderError("The level of an interval must lie strictly between 0 and 1, such as 0.95.");
    const { estimate, low, high } = this.ends(level);
    const error = low.map((one, i) => (high[i] - one) / (2 * normalQuantile(0.5 + level / 2)));
    const inside = (ends) => (way === "base" ? ends : ends.map((one) => Math.min(Math.max(one, 0), this.people)));
    return { estimate: POST[way](estimate, this.people, error), low: inside(low), high: inside(high) };
  }
}

/**
 * Opens a file of counted local reports.
 * @param {Uint8Array} bytes
 */
export const openLocal = async (bytes) => {
  const { manifest, arrays } = await readArchive(bytes);
  if (manifest?.format !== "frostglass-local" || ![1, 2].includes(manifest.format_version)) throw new ReaderError("The file holds no counted reports that this reader knows.");
  try {
    return new LocalReports(manifest, arrays.table ? new Float64Array(arrays.table.numbers) : null);
  } catch (problem) {
    throw problem instanceof ReaderError ? problem : new ReaderError("What the file says of itself makes no sense.");
  }
};
