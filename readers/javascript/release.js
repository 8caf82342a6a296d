// A release: what its file holds, and what it answers.
import { ReaderError, readArchive } from "./archive.js";
import { productOf } from "./arrays.js";
import { Domain } from "./columns.js";
import { Features, Projected, Race } from "./hashed.js";
import { Directions, Distance, Moments, ProjectedDistance } from "./distances.js";
import { Histogram } from "./grids.js";
import { across } from "./across.js";
import { Products } from "./products.js";
import { MinHash } from "./sets.js";
import { normalQuantile } from "./special.js";
import { TableSketch } from "./tables.js";

const MECHANISMS = { race: Race, features: Features, minhash: MinHash, projected: Projected, histogram: Histogram,
  distance: Distance, "projected-distance": ProjectedDistance, moments: Moments, directions: Directions, products: Products, tables: TableSketch };
const MOST_CLASSES = 1000, MOST_COUNTERS = 1 << 27, VERSIONS = 4;

class UnknownMechanism extends ReaderError {
  constructor() {
    super("The release is of a mechanism that this reader cannot ask: open it with Frostglass.");
  }
}

/** One exact number of a manifest, which writes it as "3/4" or "0.75". */
const exactNumber = (text) => {
  const [above, below] = String(text).split("/");
  // Long whole numbers are divided as such: each by itself may be beyond floating point.
  if (below === undefined || below.length + above.length < 30) return Number(above) / Number(below ?? 1);
  const shift = Math.max(0, below.length - 20);
  return Number(BigInt(above) / 10n ** BigInt(shift)) / Number(BigInt(below) / 10n ** BigInt(shift));
};

/**
 * The variance of the noise in one counter.
 * @param {Record<string, any>} noise
 */
const varianceOf = ({ distribution, parameter, block, epsilon, draws }) => {
  const scale = exactNumber(parameter);
  if (!(scale >= 0)) throw new ReaderError("The noise that the file states is none.");
  if (distribution === "rounded_l2") return (block + 1) * scale * scale + 1 / 12;
  if (distribution === "shared_laplace") return exactNumber(draws) * varianceOf({ distribution: "discrete_laplace", parameter });
  if (distribution === "discrete_laplace") return 1 / (2 * scale) > 350 ? 0 : 1 / (2 * Math.sinh(1 / (2 * scale)) ** 2);
  if (distribution === "local_reports" || epsilon || scale > 4) return scale;
  let [sum, all] = [0, 1];
  for (let z = 1; z < 80; z++) {
    sum += 2 * z * z * Math.exp((-z * z) / (2 * scale));
    all += 2 * Math.exp((-z * z) / (2 * scale));
  }
  return sum / all;
};

const added = (noise) => noise.reduce((sum, one) => sum + varianceOf(one), 0);

const sketchOf = (mechanism, parameters, domain) => {
  const made = MECHANISMS[Object.hasOwn(MECHANISMS, mechanism) ? mechanism : ""];
  if (!made) throw new UnknownMechanism();
  return new made(parameters ?? {}, domain);
};

/** One population that is asked: a sketch with its noisy counters. */
class Population {
  countVariance; counted; recordsError; table; variance;

  constructor(sketch, table, { counted, variance, countVariance, before }) {
    Object.assign(this, { sketch, table, counted, variance, countVariance, before });
    if (table.length !== productOf(sketch.shape)) throw new ReaderError("The table of the file has another size than its manifest says.");
    const own = counted !== null ? [counted, countVariance ** 0.5] : [sketch.total(table), sketch.totalVariance(variance) ** 0.5];
    this.ownCount = own;
    [this.records, this.recordsError] = besideBought(Math.max(1, own[0]), own[1], before);
    this.records = Math.max(1, this.records);
  }
}

/** A number of records and one that was bought before: their mean, each weighed by its precision. */
const besideBought = (known, error, before) => {
  if (!before || !error) return [known, error];
  const variance = added([before.noise, ...(before.further ?? [])]);
  const weight = 1 / (1 + variance / error ** 2);
  return [Number.isFinite(error) ? (1 - weight) * known + weight * before.records : before.records, Math.sqrt(weight * variance)];
};

/** A release that is asked; of several questions one of its `parts` is, and of several classes one of them or all. */
export class Release {
  domain; facts; manifest; sketch; slabs;

  constructor(manifest, domain, sketch, slabs, facts) {
    Object.assign(this, { manifest, domain, sketch, slabs, facts });
    this.columns = domain.columns;
    this.names = domain.names;
    this.answers = sketch.answers;
    this.classes = facts.classes ?? [];
    this.parts = {};
    const together = slabsAdded(slabs);
    const { counted, variance, countVariance } = facts;
    this.population = new Population(sketch, together, {
      counted: counted ? counted.reduce((a, b) => a + b, 0) : null,
      variance: variance * slabs.length, countVariance: countVariance * slabs.length, before: facts.before });
    if (this.classes.length) {
      const each = slabs.map((_, k) => this.ofClass(k));
      const known = each.reduce((sum, one) => sum + one.records, 0);
      const error = each[0].recordsError * slabs.length ** 0.5;
      [this.population.records, this.population.recordsError] = besideBought(known, error, facts.before);
    }
  }

  get records() {
    return this.population.records;
  }

  get recordsError() {
    return this.population.recordsError;
  }

  /** The records of one class, by its name or its place on the list. */
  ofClass(which) {
    const place = typeof which === "number" ? which : this.classes.indexOf(which);
    if (!(place in this.slabs)) throw new ReaderError("The release has no such class.");
    const { counted, variance, countVariance } = this.facts;
    return new Release(this.manifest, this.domain, this.sketch, [this.slabs[place]],
      { ...this.facts, counted: counted && [counted[place]], variance, countVariance, before: undefined, classes: [] });
  }

  /** The sum over some periods of a living release, read off the rows of its table by `weights`, with the noise that it has. */
  run({ weights, noise, countNoise }) {
    const { rows, counts, sketch } = this.facts;
    const table = new Float64Array(rows[0].length);
    weights.forEach((weight, r) => { for (let i = 0; i < table.length; i++) table[i] += weight * rows[r][i]; });
    return new Release(this.manifest, this.domain, sketch, [table.map(Math.round)], { ...this.facts, variance: noise, countVariance: countNoise,
      counted: counts && [Math.round(weights.reduce((sum, weight, r) => sum + weight * counts[r], 0))] });
  }

  /** One of several questions, by its name. */
  part(name) {
    if (!Object.hasOwn(this.parts, name)) throw new ReaderError("The release has no such part.");
    return this.parts[name];
  }

  /** The same grid read through a kernel of another bandwidth, or one a column. */
  smoothed(bandwidth) {
    if (!this.sketch.smoothed) throw new ReaderError("The distance at which closeness fades is fixed in a release of this kind.");
    return new Release(this.manifest, this.domain, this.sketch.smoothed(bandwidth), this.slabs, this.facts);
  }

  /**
   * What released tables answer: counts, shares, means and quantiles of any part, with bands of a level.
   * @param {object} more What else is known of them, and no file says.
   */
  tables(level = 0.95, more = {}) {
    if (!this.sketch.of) throw new ReaderError("The release holds no tables.");
    const { table, variance, counted, countVariance } = this.population;
    // One counter with Laplace noise has longer tails than a normal number.
    const tails = this.facts.laplace ? -Math.log1p(-level) / Math.SQRT2 : 0;
    const total = counted === null ? {} : { total: counted, totalVariance: countVariance };
    const known = { ...total, ...more };
    return this.sketch.of(table, variance, { reach: Math.max(normalQuantile(0.5 + level / 2), tails), ...known, totalVariance: known.totalVariance ?? Infinity });
  }

  /** Sums of the products of any two coordinates of a record, and the standard deviation of the noise in each. */
  sums() {
    if (!this.sketch.matrix) throw new ReaderError("The release holds no sums of products.");
    const { table, variance, records } = this.population;
    return this.sketch.matrix(table, variance, records);
  }

  /**
   * Sums over all records at places that are given column by column, with intervals and averages.
   * @param {Object<string, Array|number|string>} queries
   * @param {number} level with which an interval holds the exact sum
   */
  answer(queries, level = 0.95) {
    if (!(level > 0 && level < 1)) throw new ReaderError("The level of an interval must lie strictly between 0 and 1, such as 0.95.");
    return this.answerPoints(this.sketch.encode(queries), level);
  }

  answerPoints(points, level = 0.95) {
    const { table, records, variance } = this.population;
    return this.said(this.sketch.answer(table, records, points, variance, level));
  }

  /**
   * The same at all combinations of values of one or two columns, the first one fastest. Columns of `held` have one
   * value; over all others answers of closeness are averaged, at `places` places.
   */
  across(drawn, held = {}, places = 16) {
    return this.said(across(this, drawn, held, places));
  }

  said({ estimate, error, reach }) {
    return {
      estimate, standardError: error,
      low: estimate.map((one, i) => one - reach[i]), high: estimate.map((one, i) => one + reach[i]),
      density: estimate.map((one) => one / Math.max(this.records, 1)),
    };
  }
}

const slabsAdded = (slabs) => {
  if (slabs.length === 1) return slabs[0];
  const sum = new Float64Array(slabs[0]);
  for (const slab of slabs.slice(1)) for (let i = 0; i < sum.length; i++) sum[i] += slab[i];
  return sum;
};

/** A release of one question, whose table may have a slab a class. */
const single = (manifest, domain, { mechanism, parameters }, table, counted, noise, countNoise, before) => {
  const facts = { counted, variance: added(noise), countVariance: added(countNoise), before, mechanism, parameters, laplace: noise.some(({ distribution }) => distribution === "discrete_laplace") };
  if (mechanism === "living") return living(manifest, domain, parameters, table, facts);
  if (mechanism !== "classes") return new Release(manifest, domain, sketchOf(mechanism, parameters, domain), [table], facts);
  const label = domain.columns.find(({ name }) => name === parameters?.label);
  if (!label?.categories || label.categories.length > MOST_CLASSES) throw new ReaderError("The file names no classes.");
  const within = domain.without(label.name);
  const sketch = sketchOf(parameters.inner?.mechanism, parameters.inner?.parameters, within);
  const size = table.length / label.categories.length;
  const slabs = label.categories.map((_, k) => table.slice(k * size, (k + 1) * size));
  return new Release(manifest, within, sketch, slabs, { ...facts, classes: label.categories });
};

/** What is asked by one of its questions or periods, and not by itself. */
const hollow = (manifest, domain, answers, facts) => new Release(manifest, domain, { answers, domain, shape: [0], total: () => 1, totalVariance: () => 0 },
  [new Float64Array(0)], { ...facts, counted: null, variance: 0, countVariance: 0 });

/** A release of periods one after the other, which is asked by `run`. */
const living = (manifest, domain, { column, inner }, table, facts) => {
  const within = domain.without(column);
  const sketch = sketchOf(inner?.mechanism, inner?.parameters, within);
  const size = productOf(sketch.shape);
  if (table.length % size) throw new ReaderError("The table of the file has another size than its manifest says.");
  const rows = Array.from({ length: table.length / size }, (_, r) => table.subarray(r * size, (r + 1) * size));
  return hollow(manifest, within, "periods", { ...facts, counts: facts.counted, mechanism: inner.mechanism, parameters: inner.parameters, rows, sketch });
};

/**
 * Opens a release file.
 * @param {Uint8Array} bytes the contents of a .npz file
 * @returns {Promise<Release>}
 */
export const openRelease = async (bytes) => {
  const { manifest, arrays } = await readArchive(bytes);
  if (manifest?.format !== "frostglass-release") throw new ReaderError("The file is an archive of arrays, but not a release.");
  if (!(manifest.format_version <= VERSIONS)) throw new ReaderError("The release was made by a newer version of Frostglass than this reader knows.");
  try {
    return manifest.format_version === 3 ? parted(manifest, arrays) : whole(manifest, arrays);
  } catch (problem) {
    throw problem instanceof ReaderError ? problem : new ReaderError("What the file says of itself makes no sense.");
  }
};

const whole = (manifest, arrays) => {
  const { table, count } = arrays;
  if (!table || productOf(table.shape) > MOST_COUNTERS) throw new ReaderError("The release is larger than a page can hold: open it with Frostglass.");
  const { noise, count_noise: countNoise } = manifest.privacy;
  return single(manifest, new Domain(manifest.domain), manifest, new Float64Array(table.numbers),
    count ? Array.from(count.numbers) : null, noise, countNoise, manifest.counted_before);
};

const KEEPS_ALL = (domain) => domain.outside === "clamp" && domain.missing === "refuse";

/** A release of several questions: a table each, and numbers of records that parts of the same columns share. */
const parted = (manifest, arrays) => {
  const domain = new Domain(manifest.domain);
  const { members } = manifest.parameters;
  const { noise, count_noise: countNoise, neighbours } = manifest.privacy;
  if (!Array.isArray(members) || !members.length || members.length > 50) throw new ReaderError("The file states no parts.");
  const keys = members.map(({ columns, mechanism, parameters }, place) => {
    if (mechanism === "classes") return `class ${place}`;
    const gaps = mechanism === "tables" && columns.some((name) => domain.columns[domain.names.indexOf(name)].missing_category);
    return KEEPS_ALL(manifest.domain) ? "all" : JSON.stringify([[...columns].sort(), gaps]);
  });
  const seen = [...new Set(keys)];
  const sizes = seen.map((key) => {
    const { mechanism, parameters } = members[keys.indexOf(key)];
    return mechanism === "classes" ? domain.columns[domain.names.indexOf(parameters.label)].categories.length : 1;
  });
  const isPublic = seen.map((key) => neighbours === "replace_one" && KEEPS_ALL(manifest.domain) && !key.startsWith("class"));
  const whole = hollow(manifest, domain, "several", {});
  const releases = members.length ? noise.length / members.length : 1;
  const noisyCounts = countNoise.length / releases;
  members.forEach((member, place) => {
    const table = new Float64Array(arrays[`table_${place + 1}`].numbers);
    const own = domain.only(member.columns);
    const within = new Domain({ ...own.facts, scale: member.scale, category_distance: member.category_distance });
    const counting = seen.indexOf(keys[place]);
    const start = sizes.slice(0, counting).reduce((a, b) => a + b, 0);
    const counted = Array.from(arrays.count.numbers.slice(start, start + sizes[counting]));
    const noisy = isPublic[counting] ? null : isPublic.slice(0, counting).filter((known) => !known).length;
    const mine = noise.filter((_, i) => i % members.length === place);
    const counts = noisy === null ? [] : countNoise.filter((_, i) => i % noisyCounts === noisy);
    const before = within.names.join() === domain.names.join() && within.scale === domain.scale ? manifest.counted_before : undefined;
    const read = (count, noises) => single(manifest, within, member, table, count, mine, noises, before);
    try {
      let made = read(counted, counts);
      if (noisy !== null && made.sketch.totalVariance?.(added(mine)) <= added(counts)) made = read(null, []);
      whole.parts[member.name] = made;
    } catch (problem) {
      if (members.length === 1 || !(problem instanceof UnknownMechanism)) throw problem; // the others can be asked all the same
    }
  });
  if (!Object.keys(whole.parts).length) throw new UnknownMechanism();
  const largest = Object.values(whole.parts).reduce((a, b) => (b.records > a.records ? b : a));
  [whole.population.records, whole.population.recordsError] = [largest.records, largest.recordsError];
  return whole;
};
