// Columns: what anyone may say in them, and how that becomes the coordinates that a sketch is asked at.
import { ReaderError } from "./archive.js";
import { imageOfRead } from "./encoders.js";

const STEPS = { day: 86400, hour: 3600, minute: 60, second: 1 };
const KM_A_DEGREE = (6371.0088 * Math.PI) / 180;
const SCALARS = ["numeric", "date", "coordinate", "ordered", "text_length"], CHOICES = ["categorical", "words", "cyclic"];

/** Seconds since 1970 of a date that is written as 2024-12-31 or 2024-12-31T08:00; NaN of anything else. */
const moment = (text) => {
  const [, day, time, zone] = /^\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?\s*$/.exec(String(text)) ?? [];
  if (!day) return NaN;
  const seconds = Date.parse(`${day}T${time ?? "00:00"}${zone ?? "Z"}`) / 1000;
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day) ? seconds : NaN;
};

/** The coordinate of an amount: its doublings of the finest one, the rest of one by a parabola instead of the logarithm. */
export const placeOfAmount = ({ finest }, amount) => {
  const times = 1 + Math.min(Math.abs(amount) / finest, 2 ** 1000);
  let whole = Math.floor(Math.log2(times));
  whole += Number(2 ** (whole + 1) <= times) - Number(2 ** whole > times);
  const rest = times / 2 ** whole - 1;
  return Math.sign(amount) * (whole + (rest + (11 / 32) * (rest * (1 - rest))));
};

/** The amount at a coordinate. */
export const amountAt = ({ finest }, place) => {
  const size = Math.min(Math.abs(place), 1000);
  const [whole, once] = [Math.floor(size), 1 + 11 / 32];
  const rest = (once - Math.sqrt(once * once - (11 / 8) * (size - whole))) / (11 / 16);
  return Math.sign(place) * (2 ** whole * (1 + rest) - 1) * finest;
};

export class Column {
  categories; codes; east; encoded; kind; length; name; north; reads; south; step; steps; west; written;

  constructor(facts) {
    Object.assign(this, facts);
    if (facts.kind === "encoded") [this.kind, this.encoded] = ["vector", true]; // asked by what it reads, or by the numbers after encoding
    this.isScalar = SCALARS.includes(facts.kind);
    if (!this.isScalar && !CHOICES.includes(facts.kind) && this.kind !== "vector" && facts.kind !== "items") {
      throw new ReaderError("The file has a column of a kind that this reader does not know; a newer one may.");
    }
    if (facts.kind === "date") {
      const [first, step] = [moment(facts.first), STEPS[facts.step]];
      this.start = Math.floor(first / step) * step;
      const last = moment(facts.last) + (facts.last.includes(":") ? 0 : STEPS.day - 1);
      this.low = 0;
      this.high = Math.floor((last - this.start) / step);
      this.seconds = step;
    } else if (facts.kind === "ordered") {
      this.places = facts.positions?.length ? facts.positions : facts.categories.map((_, place) => place);
      [this.low, this.high] = [this.places[0], this.places[this.places.length - 1]];
    } else if (facts.kind === "coordinate") {
      this.isLatitude = facts.axis === "latitude";
      this.low = this.isLatitude ? facts.south : facts.west;
      this.high = this.isLatitude ? facts.north : facts.east > facts.west ? facts.east : facts.east + 360;
    } else if (facts.kind === "text_length") this.low = 0;
    else if (facts.kind === "cyclic") this.radius = this.categories.length / (2 * Math.PI);
    if (facts.kind === "numeric" && facts.scale) {
      if (facts.scale !== "log") throw new ReaderError("A column of the file has a scale that this reader does not know; a newer one may.");
      const nearest = this.low * this.high > 0 ? Math.min(Math.abs(this.low), Math.abs(this.high)) : 0;
      this.finest = facts.step || nearest / 16 || Math.max(Math.abs(this.low), Math.abs(this.high)) * 2 ** -30;
    }
    if (this.isScalar && !(this.low < this.high)) throw new ReaderError("A column of the file has bounds that are none.");
  }

  get width() {
    return { vector: this.length, items: 0, cyclic: 2 }[this.kind] ?? (this.isScalar ? 1 : this.categories.length);
  }

  /** Of coordinates before they are scaled; `amplitude` is the height of a category's. */
  bounds(amplitude) {
    if (this.kind === "cyclic") return [-this.radius, this.radius];
    if (this.finest) return [this.low, this.high].map((one) => this.placed(one));
    return this.isScalar || this.kind === "vector" ? [this.low, this.high] : [0, amplitude];
  }

  /** What is subtracted from its coordinates, and what they are divided by then. */
  scaling(scale) {
    const box = scale === "box";
    if (this.kind === "cyclic") return [0, box ? this.categories.length : 1];
    if (this.kind === "coordinate") {
      const cosine = Math.cos((((this.south + this.north) / 2) * Math.PI) / 180);
      const km = KM_A_DEGREE * (this.isLatitude ? 1 : cosine);
      const turn = (((this.east - this.west) % 360) + 360) % 360;
      const longest = Math.max(KM_A_DEGREE * (this.north - this.south), KM_A_DEGREE * turn * cosine);
      return box ? [this.low, longest / km] : [(this.low + this.high) / 2, 1 / km];
    }
    if (!box || !(this.isScalar || this.kind === "vector")) return [0, 1];
    const [low, high] = this.bounds(1);
    return [low, high - low];
  }

  /** How far apart neighbouring numbers are that anyone could have; 0 where any may occur. */
  get spacing() {
    if (this.kind === "numeric") return this.finest ? 0 : this.step ?? 0;
    if (this.kind === "date") return 1;
    if (this.kind !== "ordered") return 0;
    const gaps = this.places.slice(1).map((place, i) => place - this.places[i]);
    return gaps.every((gap) => gap === gaps[0]) ? gaps[0] : 0;
  }

  /** The coordinate of a number, and the other way round. */
  placed(number) {
    return this.finest ? placeOfAmount(this, number) : number;
  }

  natural(place) {
    return this.finest ? amountAt(this, place) : place;
  }

  /** The number at a share of the way between the bounds. */
  between(share) {
    const [low, high] = this.bounds(1);
    return this.natural(low + share * (high - low));
  }

  /** The place of a category on its list, by its name or however it is written. */
  code(value) {
    this.codes ??= new Map([...(this.written ?? []).flatMap((texts, place) => texts.map((text) => [text, place])),
      ...this.categories.map((name, place) => [name, place])]);
    const [text, plain] = [String(value), (one) => one.trim().toLowerCase()];
    if (this.codes.has(text)) return this.codes.get(text);
    const alike = [...this.codes].filter(([name]) => plain(name) === plain(text)).map(([, place]) => place);
    if (!alike.length || new Set(alike).size > 1) throw new ReaderError(`The column "${this.name}" is asked about a value that is not one of its categories.`);
    return alike[0];
  }

  /** A value as a number of its own unit: steps since the first date, degrees near the box, the place of a category. */
  number(value) {
    if (this.kind === "ordered") return this.places[this.code(value)];
    if (this.kind === "date" && typeof value !== "number") {
      return (moment(value instanceof Date ? value.toISOString() : value) - this.start) / this.seconds;
    }
    const number = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
    if (this.kind !== "coordinate" || this.isLatitude) return number;
    return number - 360 * Math.round((number - (this.low + this.high) / 2) / 360);
  }

  /** Writes the coordinates of a value, before scaling, into arrays of which each has one coordinate of all places. */
  place(value, coordinates, first, i, amplitude) {
    if (this.kind === "vector") {
      if (value?.length !== this.length) throw new ReaderError(`The column "${this.name}" is asked by lists of ${this.length} numbers${this.encoded ? ", those after encoding" : ""}.`);
      for (let k = 0; k < this.length; k++) coordinates[first + k][i] = value[k];
    } else if (this.kind === "cyclic") {
      const turn = (2 * Math.PI * this.code(value)) / this.categories.length;
      [Math.cos(turn), Math.sin(turn)].forEach((one, k) => { coordinates[first + k][i] = this.radius * one; });
    } else if (this.isScalar) coordinates[first][i] = this.placed(this.number(value));
    else coordinates[first + this.code(value)][i] = amplitude;
  }
}

/** The numbers of an encoded column for each value of the columns that it reads, which are moved to their bounds. */
const imagesOf = (column, queries) => {
  const read = new Domain({ columns: column.reads });
  const [{ count, coordinates }, [low, high]] = [read.encode(queries, "l2"), read.bounds("l2")];
  try {
    return Array.from({ length: count }, (_, i) => imageOfRead(column, coordinates.map((one, k) => Math.min(Math.max(one[i], low[k]), high[k]))));
  } catch (problem) {
    throw problem instanceof ReaderError ? problem : new ReaderError("The steps by which the file makes its numbers make no sense.");
  }
};

/** What is asked at places that are given column by column. */
export class AskedAtPlaces {
  domain; metric;

  encode(queries) {
    return this.domain.encode(queries, this.metric);
  }
}

/** The public facts about records: columns, and how they are compared. */
export class Domain {
  constructor(facts) {
    if (!Array.isArray(facts?.columns) || !facts.columns.length) throw new ReaderError("The file names no columns.");
    this.facts = facts;
    this.columns = facts.columns.map((column) => (column instanceof Column ? column : new Column(column)));
    this.names = this.columns.map(({ name }) => name);
    this.scale = facts.scale ?? "none";
    this.widths = this.columns.map(({ width }) => width);
    this.dimensions = this.widths.reduce((a, b) => a + b, 0);
    this.starts = this.widths.map((_, c) => this.widths.slice(0, c).reduce((a, b) => a + b, 0));
    this.holdsSets = this.columns.some(({ kind }) => kind === "items");
  }

  without(name) {
    return new Domain({ ...this.facts, columns: this.columns.filter((column) => column.name !== name) });
  }

  only(names) {
    return new Domain({ ...this.facts, columns: names.map((name) => this.columns[this.names.indexOf(name)]) });
  }

  /** The height of a coordinate at which two categories are as far apart as the domain says. */
  amplitude(metric) {
    return (this.facts.category_distance ?? 1) / (metric === "l2" ? Math.SQRT2 : 2);
  }

  /** Least and greatest encoded coordinates in a metric. */
  bounds(metric) {
    const each = (end) => Float64Array.from(this.columns.flatMap((column) => {
      const [shift, width] = column.scaling(this.scale);
      return Array(column.width).fill((column.bounds(this.amplitude(metric))[end] - shift) / width);
    }));
    return [each(0), each(1)];
  }

  /** The columns that a question may be asked by: those that encoders read in place of the encoded ones. */
  get asked() {
    return this.columns.flatMap((column) => (column.encoded ? column.reads.map((one) => new Column(one)) : [column]));
  }

  get spacings() {
    return this.columns.flatMap((column) => Array(column.width).fill(column.spacing / column.scaling(this.scale)[1]));
  }

  /**
   * Encoded coordinates of what is asked: one array a coordinate. Values of a column that has a single one are the
   * same for all places.
   */
  encode(queries, metric) {
    const missing = this.columns.filter(({ name, encoded }) => encoded && !Object.hasOwn(queries, name));
    if (missing.length) return this.encode({ ...queries, ...Object.fromEntries(missing.map((column) => [column.name, imagesOf(column, queries)])) }, metric);
    const lists = this.names.map((name) => {
      if (!Object.hasOwn(queries, name)) throw new ReaderError(`The question says nothing about the column "${name}".`);
      return Array.isArray(queries[name]) || ArrayBuffer.isView(queries[name]) ? queries[name] : [queries[name]];
    });
    const count = lists.reduce((most, list) => Math.max(most, list.length), 0);
    const coordinates = Array.from({ length: this.dimensions }, () => new Float64Array(count));
    this.columns.forEach((column, c) => {
      if (lists[c].length !== count && lists[c].length !== 1) throw new ReaderError("The question must have as many values of every column.");
      const [shift, width] = column.scaling(this.scale);
      for (let i = 0; i < count; i++) column.place(lists[c][lists[c].length === 1 ? 0 : i], coordinates, this.starts[c], i, this.amplitude(metric));
      for (const coordinate of coordinates.slice(this.starts[c], this.starts[c] + column.width)) {
        for (let i = 0; i < count; i++) {
          coordinate[i] = (coordinate[i] - shift) / width;
          if (!Number.isFinite(coordinate[i])) throw new ReaderError(`The column "${column.name}" is asked about a value that it cannot have.`);
        }
      }
    });
    return { count, coordinates };
  }
}
