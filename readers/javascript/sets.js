// MinHash: how many sets are like a set of items.
import { Grouped } from "./hashed.js";
import { PublicRandom, cellOf, groupSizes, hashOf } from "./random.js";
import { ReaderError } from "./archive.js";

const WORD = (1n << 64n) - 1n, MOST_HASHED = 256;
const [P1, P2, P3, P4, P5] = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];
/** @type {(word: bigint, by: bigint) => bigint} */
const rotated = (word, by) => ((word << by) | (word >> (64n - by))) & WORD;
const rounded64 = (lane, word) => (rotated((lane + word * P2) & WORD, 31n) * P1) & WORD;

/** XXH64 of bytes, with seed 0. */
const xxh64 = (data) => {
  const word = (at, length) => {
    let found = 0n;
    for (let k = length - 1; k >= 0; k--) found = (found << 8n) | BigInt(data[at + k]);
    return found;
  };
  let [at, key] = [0, P5];
  if (data.length >= 32) {
    const lanes = [(P1 + P2) & WORD, P2, 0n, (WORD + 1n - P1) & WORD];
    for (; at + 32 <= data.length; at += 32) for (let k = 0; k < 4; k++) lanes[k] = rounded64(lanes[k], word(at + 8 * k, 8));
    key = [1n, 7n, 12n, 18n].reduce((sum, by, k) => (sum + rotated(lanes[k], by)) & WORD, 0n);
    for (const lane of lanes) key = ((key ^ rounded64(0n, lane)) * P1 + P4) & WORD;
  }
  key = (key + BigInt(data.length)) & WORD;
  for (; at + 8 <= data.length; at += 8) key = (rotated(key ^ rounded64(0n, word(at, 8)), 27n) * P1 + P4) & WORD;
  if (at + 4 <= data.length) {
    key = (rotated(key ^ ((word(at, 4) * P1) & WORD), 23n) * P2 + P3) & WORD;
    at += 4;
  }
  for (; at < data.length; at++) key = (rotated(key ^ ((BigInt(data[at]) * P5) & WORD), 11n) * P1) & WORD;
  key = ((key ^ (key >> 33n)) * P2) & WORD;
  key = ((key ^ (key >> 29n)) * P3) & WORD;
  return key ^ (key >> 32n);
};

/** The stable word of an item: a whole number of 64 bits itself, and of any other text its hash. */
const itemKey = (item) => {
  const text = String(item);
  if (/^(0|-?[1-9]\d{0,18})$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)) return BigInt(text) & WORD;
  return xxh64(new TextEncoder().encode(text));
};

const mixed64 = (word) => {
  let found = word ^ (word >> 33n);
  found = (found * 0xff51afd7ed558ccdn) & WORD;
  found = ((found ^ (found >> 33n)) * 0xc4ceb9fe1a85ec53n) & WORD;
  return found ^ (found >> 33n);
};

export class MinHash extends Grouped {
  longest; thrown; width;

  constructor(parameters, domain) {
    super(parameters, domain);
    Object.assign(this, { width: parameters.width, longest: parameters.longest, thrown: parameters.scheme === "one-permutation" });
    this.shape = [this.rows, this.width];
    this.mixers = [];
    this.hashes = this.sizes.flatMap((size, group) => {
      const random = new PublicRandom(this.seed, 1, group);
      this.mixers.push([random.word() | 1n, random.word()]);
      return Array.from({ length: size }, () => hashOf(random.word(), random.word()));
    });
    const order = new PublicRandom(this.seed, 2);
    this.order = [order.word() | 1n, order.word()];
  }

  /** What is asked: one list of items a set, or texts that the separator cuts. */
  encode(queries) {
    const [column] = this.domain.columns;
    const lists = queries[column.name];
    if (!Array.isArray(lists)) throw new ReaderError(`The question must have a list of sets for the column "${column.name}".`);
    const sets = lists.map((one) => {
      const items = Array.isArray(one) ? one : column.separator ? String(one).split(column.separator).map((item) => item.trim()).filter(Boolean) : [one];
      if (!items.length) throw new ReaderError("An empty set is like no other, so nothing can be said of it.");
      return this.shortened([...new Set(items.map(itemKey))]);
    });
    return { count: sets.length, sets };
  }

  shortened(keys) {
    if (this.longest === null || this.longest === undefined || keys.length <= this.longest) return keys;
    const word = (key) => mixed64((key * this.order[0] + this.order[1]) & WORD);
    return keys.map((key) => [word(key), key]).sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, this.longest).map(([, key]) => key);
  }

  total(table) {
    return table.reduce((a, b) => a + b, 0) / this.rows;
  }

  totalVariance(variance) {
    return (variance * this.width) / this.rows;
  }

  groupEstimates(table, records, { count, sets }) {
    const sums = this.sumsOfGroups(count);
    sets.forEach((keys, i) => {
      let row = 0;
      this.sizes.forEach((size, g) => {
        const words = keys.map((key) => mixed64((key * this.mixers[g][0] + this.mixers[g][1]) & WORD));
        let start = 0;
        for (const rows of groupSizes(size, Math.ceil(size / MOST_HASHED))) {
          const least = this.least(words, start, rows);
          for (let t = 0; t < rows; t++, row++) sums[g][i] += table[row * this.width + cellOf(this.hashes[row], least[t], this.width)];
          start += rows;
        }
      });
    });
    this.meansOf(sums);
    for (const sum of sums) for (let i = 0; i < count; i++) sum[i] = (sum[i] - records / this.width) / (1 - 1 / this.width);
    return { estimates: sums, weights: this.sizes.map((size) => size / this.rows) };
  }

  /** The least number of the items in each of consecutive rows of a group. */
  least(words, start, rows) {
    const least = new Uint32Array(rows).fill(0xffffffff);
    for (const word of words) {
      const second = Number(word >> 32n);
      let number = (Number(word & 0xffffffffn) + Math.imul(start, second)) >>> 0;
      for (let t = 0; t < rows; t++) {
        if (number < least[t]) least[t] = number;
        number = (number + second) >>> 0;
      }
    }
    if (!this.thrown) return least;
    const thrown = new Float64Array(rows).fill(Infinity);
    const turn = (BigInt(start + 1) * 0x9e3779b97f4a7c15n) & WORD;
    for (const word of words) {
      const found = mixed64((word + turn) & WORD);
      const row = Number(((found & 0xffffffffn) * BigInt(rows)) >> 32n);
      thrown[row] = Math.min(thrown[row], Number(found >> 32n));
    }
    return least.map((own, t) => (thrown[t] === Infinity ? own : thrown[t]));
  }
}
