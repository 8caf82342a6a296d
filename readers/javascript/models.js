// Trained models: what their files say of the records that anyone asks about.
import { ReaderError } from "./archive.js";
import { dot } from "./arrays.js";
import { Domain } from "./columns.js";
import { gaussianWaves } from "./hashed.js";
import { normalQuantile } from "./special.js";

const COEFFICIENT_BITS = 20, SMALLEST = 2.2250738585072014e-308;
const CLASSES = ["logistic", "multinomial", "one-vs-rest", "svm"], NUMBERS = ["number", "count"];
// Of waves: lengths in those that records are apart, the usual spread of a number, and their share of the squared length.
const LENGTHS = [1, 0.5], SPREAD = 1 / 3, SHARE = 0.1, SHARE_OF_PRODUCTS = 0.3;

const expit = (score) => 1 / (1 + Math.exp(-score));
const isCategory = ({ kind }) => kind === "categorical" || kind === "words";
const within = (x) => Math.min(1, Math.max(-1, x));

/** Records as numbers between -1 and 1, and categories as 0 and 1: what regressions and models add up. */
export class Between {
  constructor(domain) {
    // Slopes are by the unit, also those of amounts.
    const columns = domain.columns.map((column) => (column.finest ? { ...column, scale: "", finest: undefined } : column));
    this.domain = new Domain({ ...domain.facts, columns });
    const [low, high] = this.domain.bounds("l2");
    const { spacings } = this.domain;
    this.coordinates = this.domain.columns.flatMap((column) => Array(column.width).fill(column)).map((column, k) => (isCategory(column) ? { middle: 0, half: high[k] }
      : { middle: (low[k] + high[k]) / 2, half: (high[k] - low[k]) / 2, several: spacings[k] === 0 || 2 * spacings[k] <= high[k] - low[k] }));
  }

  /** One list of coordinates a record. */
  of(queries) {
    const { count, coordinates } = this.domain.encode(queries, "l2");
    return Array.from({ length: count }, (_, i) => this.coordinates.map(({ middle, half }, k) => within((coordinates[k][i] - middle) / half)));
  }
}

/** A number between -1 and 1 with the tents of its curve, from wide ones to narrow ones. */
const curved = (x, halvings) => {
  const found = [x];
  for (let level = 0; level < halvings; level++) {
    for (let k = 0; k < 2 ** level; k++) found.push(Math.max(0, 1 - Math.abs(x - ((2 * k + 1) / 2 ** level - 1)) * 2 ** level) * 2 ** (-level / 2));
  }
  return found;
};

/** A trained model, which anyone may ask for ever: classes with their probabilities, or a number. */
export class Model {
  bends; between; categories; curves; domain; kind; label; manifest; pairs; radius; waves;

  constructor(facts) {
    const { domain, task, kind, scale, rows } = facts;
    if (![...CLASSES, ...NUMBERS].includes(kind) || !(scale > 0) || !Array.isArray(rows)) throw new ReaderError("The file is no model that this reader knows; a newer one may.");
    const whole = new Domain(domain);
    Object.assign(this, { manifest: facts, kind, label: task.label, curves: task.curves ?? 0, waves: task.waves ?? 0, radius: task.radius });
    this.target = whole.columns[whole.names.indexOf(task.label)];
    if (!this.target) throw new ReaderError("The file names no column that is predicted.");
    this.categories = CLASSES.includes(kind) ? this.target.categories : [];
    this.weights = rows.map((row) => Float64Array.from(row, (one) => one * scale * 2 ** -COEFFICIENT_BITS));
    this.between = new Between(whole.without(task.label));
    this.domain = this.between.domain;
    this.bends = this.between.coordinates.map(({ several }) => this.curves > 0 && several);
    if (this.waves) this.drawWaves(this.domain.columns.filter(isCategory));
    const numbers = task.products ? this.between.coordinates.flatMap(({ several }, k) => (several === undefined ? [] : [k])) : [];
    this.pairs = numbers.flatMap((one, place) => numbers.slice(place + 1).map((other) => [one, other]));
    const labelled = this.domain.columns.filter(isCategory);
    this.corner = this.bends.length + labelled.reduce((sum, { width }) => sum + 1 - width, 0); // its squared length
    const length = this.bends.reduce((sum, bends) => sum + (bends ? 2 ** this.curves : 1), 1 + 2 * this.waves + this.pairs.length);
    if (!this.weights.every((row) => row.length === length)) throw new ReaderError("The file has another number of coefficients than its columns need.");
  }

  /** Waves of all columns together, at frequencies that everybody knows. */
  drawWaves(labelled) {
    const numbers = labelled.reduce((left, { width }) => left - width, this.bends.length);
    const corner = numbers + labelled.length; // its squared length
    const apart = 2 * (SPREAD ** 2 * numbers + labelled.reduce((sum, { width }) => sum + 1 - 1 / Math.max(2, width), 0));
    this.frequencies = gaussianWaves(Math.sqrt(apart), this.bends.length, this.waves).map((row, wave) => row.map((one) => one / LENGTHS[wave % LENGTHS.length]));
    this.height = Math.min(1, Math.sqrt((SHARE * corner) / this.waves));
  }

  /** What the model adds up of one record: 1, lines with their curves, cosines and sines. */
  vector(between) {
    const beside = Math.sqrt(1 - (this.waves ? SHARE : 0) - (this.pairs.length ? SHARE_OF_PRODUCTS : 0));
    const lines = between.flatMap((x, k) => (this.bends[k] ? curved(x, this.curves) : [x])).map((x) => x * beside);
    const angles = this.waves ? this.frequencies.map((speeds) => 2 * Math.PI * dot(between, speeds)) : [];
    const found = [...lines, ...[...angles.map(Math.cos), ...angles.map(Math.sin)].map((x) => x * this.height)];
    const height = Math.min(1, Math.sqrt((SHARE_OF_PRODUCTS * this.corner) / this.pairs.length));
    for (const [one, other] of this.pairs) found.push(height * (between[one] * between[other]));
    const factor = Math.min(1, this.radius / Math.max(Math.sqrt(dot(found, found)), 1e-300));
    return Float64Array.of(1, ...found.map((x) => x * factor));
  }

  vectors(queries) {
    return this.between.of(queries).map((one) => this.vector(one));
  }

  /**
   * Of each record the probability of every class.
   * @param {Object<string, any>} queries
   */
  probabilities(queries) {
    if (!this.categories.length) throw new ReaderError("The model predicts a number and no class.");
    return this.vectors(queries).map((vector) => {
      const scores = this.weights.map((row) => dot(row, vector));
      if (scores.length === 1) return [expit(-scores[0]), expit(scores[0])];
      const logs = this.kind === "multinomial" ? scores : scores.map((score) => Math.log(Math.max(expit(score), SMALLEST)));
      const most = Math.max(...logs);
      const odds = logs.map((one) => Math.exp(one - most));
      const sum = odds.reduce((a, b) => a + b, 0);
      return odds.map((one) => one / sum);
    });
  }

  /**
   * Of each record what is predicted, in the column's own unit (dates in their steps), and between which ends it would be
   * without noise, NaN where the file does not say how far noise moved it.
   * @param {Object<string, any>} queries
   */
  predicted(queries, level = 0.95) {
    if (this.categories.length) throw new ReaderError("The model predicts classes and no number.");
    const { covariance } = this.manifest;
    const [middle, half] = [(this.target.high + this.target.low) / 2, (this.target.high - this.target.low) / 2];
    const natural = (score) => (this.kind === "count" ? Math.exp(Math.min(score, Math.log(middle + half))) : middle + half * within(score));
    return this.vectors(queries).map((vector) => {
      const score = dot(this.weights[0], vector);
      const off = covariance ? normalQuantile(0.5 + level / 2) * Math.sqrt(Math.max(0, dot(vector, covariance.map((row) => dot(row, vector))))) : NaN;
      return { predicted: natural(score), low: natural(score - off), high: natural(score + off) };
    });
  }
}

/**
 * Opens a model file.
 * @param {Uint8Array} bytes JSON
 * @returns {Model}
 */
export const openModel = (bytes) => {
  try {
    const facts = JSON.parse(new TextDecoder().decode(bytes), (key, value) => (key === "__proto__" ? undefined : value));
    if (facts?.format !== "frostglass-model" || facts.format_version !== 1) throw new ReaderError("The file is no model of a version that this reader knows.");
    return new Model(facts);
  } catch (problem) {
    throw problem instanceof ReaderError ? problem : new ReaderError("What the file says of itself makes no sense.");
  }
};
