// Pictures that were worked out beforehand: drawn place by place, and read along straight lines between places.
import { unpacked } from "./bytes.js";
import { endsOf, nearest } from "./numbers.js";
import { filled, transposed } from "../../../readers/javascript/arrays.js";

const WINDOWS = 16; // Specks much smaller than this part of a side follow their surroundings.

/** Where more than half of the places in a window around are true; at the ends the outermost places go on. */
const most = (mask, shape, windows) => {
  let summed = Float64Array.from(mask), stride = 1;
  for (let side = shape.length - 1; side >= 0; side -= 1) {
    const [size, half, next] = [shape[side], windows[side] >> 1, new Float64Array(summed.length)];
    for (let first = 0; first < summed.length; first += first % stride === stride - 1 ? 1 + (size - 1) * stride : 1) {
      const at = (k) => summed[first + Math.min(Math.max(k, 0), size - 1) * stride];
      let total = 0; // of the window around one place after the other
      for (let k = -half; k <= half; k += 1) total += at(k);
      for (let k = 0; k < size; total += at(k + half + 1) - at(k - half), k += 1) next[first + k * stride] = total;
    }
    [summed, stride] = [next, stride * size];
  }
  const half = windows.reduce((all, one) => all * one, 1) / 2;
  return where(summed.length, (i) => summed[i] > half + 1e-9);
};

/** Of so many places, where something is true. */
const where = (count, holds) => {
  const found = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) found[i] = holds(i) ? 1 : 0;
  return found;
};

/**
 * Where the noise hides what there is, without specks, as the library has it: each place follows the majority around it,
 * unless most of its closest neighbours stand out from the noise of all places together, and of what is left only the
 * parts are seen in which some place does. Categories have no neighbours.
 */
export const hiddenByNoise = ({ est, low, high, error = null, shape }, together, noise, categories) => {
  const drowned = where(low.length, (i) => low[i] <= 0);
  if (categories) return drowned;
  const wide = (i) => error?.[i] ?? (high[i] - low[i]) / 3.92;
  const certain = where(low.length, (i) => low[i] > 0 && est[i] > together * Math.min(wide(i), noise ?? Infinity));
  const [around, closest] = [most(drowned, shape, shape.map((size) => Math.max(1, Math.floor(size / WINDOWS)) | 1)), most(certain, shape, shape.map(() => 3))];
  const hidden = where(low.length, (i) => around[i] && !closest[i]);
  const [unseen, waiting, width] = [new Uint8Array(low.length).fill(1), [], shape.at(-1)];
  for (let from = 0; from < low.length; from += 1) {
    if (certain[from]) waiting.push(from);
    while (waiting.length) {
      const i = waiting.pop();
      if (i < 0 || i >= low.length || hidden[i] || !unseen[i]) continue;
      unseen[i] = 0;
      waiting.push(i % width ? i - 1 : -1, (i + 1) % width ? i + 1 : -1, i - width, i + width);
    }
  }
  return unseen;
};

export class Lattice {
  answers; columns; error; kept; pictures; reach; records;

  constructor(facts) {
    Object.assign(this, facts);
    this.exact = false;
    this.kept ??= {};
    this.readings = [];
  }

  offers(x, y) {
    return this.key(x, y) in this.pictures;
  }

  key(x, y) {
    return y === null ? `${x}` : `${Math.min(x, y)},${Math.max(x, y)}`;
  }

  /** The picture over one or two columns, rows along x. */
  stored(x, y) {
    const name = `${x},${y}`;
    if (!(name in this.kept)) {
      const found = unpacked(this.pictures[this.key(x, y)]);
      if (y !== null && x > y) {
        const [rows, columns] = found.shape;
        for (const end of ["est", "low", "high"]) found[end] &&= transposed(found[end], rows, columns);
        found.shape = [columns, rows];
      }
      this.kept[name] = found;
    }
    return this.kept[name];
  }

  picture(x, y) {
    const found = this.stored(x, y);
    const column = this.columns[x];
    const count = found.shape[found.shape.length - 1];
    const [low, high] = endsOf(column);
    const ends = y === null && column.kind !== "category"; // a curve begins and ends at the bounds
    const at = (i) => (ends ? low + (i * (high - low)) / (count - 1) : low + ((i + 0.5) * (high - low)) / count);
    const rect = [endsOf(column), y === null ? null : endsOf(this.columns[y])];
    return { ...found, rect, values: Array.from({ length: count }, (_, i) => at(i)) };
  }

  /** Where a value lies along a side of a picture: the two places around it and the share of the second one. */
  around(column, value, count, ends) {
    const [low, high] = endsOf(column);
    if (column.kind === "category") return [nearest(column, value), nearest(column, value), 0];
    const place = ends ? ((value - low) / (high - low)) * (count - 1) : ((value - low) / (high - low)) * count - 0.5;
    const inside = Math.min(Math.max(place, 0), count - 1);
    const first = Math.min(Math.floor(inside), Math.max(0, count - 2));
    return [first, Math.min(count - 1, first + 1), inside - first];
  }

  ask(at, held, x, y) {
    const found = this.stored(x, y);
    const columns = found.shape[found.shape.length - 1];
    const [i, k, t] = this.around(this.columns[x], at[x], columns, y === null);
    const [j, l, u] = y === null ? [0, 0, 0] : this.around(this.columns[y], at[y], found.shape[0], false);
    const read = (numbers) => numbers === null ? NaN
      : (1 - u) * ((1 - t) * numbers[j * columns + i] + t * numbers[j * columns + k]) +
        u * ((1 - t) * numbers[l * columns + i] + t * numbers[l * columns + k]);
    const [estimate, low, high] = [found.est, found.low, found.high].map(read);
    return { estimate, low, high, error: Number.isNaN(low) ? Infinity : (high - low) / 2 / this.reach };
  }

  /** Which places of a side lie inside a stretch, and how much of each. */
  shares(column, count, ends, points) {
    const [low, high] = endsOf(column);
    const step = points ? (high - low) / (count - 1) : (high - low) / count;
    return filled(count, (i) => {
      const [from, to] = points
        ? [Math.max(low, low + (i - 0.5) * step), Math.min(high, low + (i + 0.5) * step)]
        : [low + i * step, low + (i + 1) * step];
      const share = Math.max(0, Math.min(to, ends[1]) - Math.max(from, ends[0])) / (to - from || 1);
      const width = points && (i === 0 || i === count - 1) ? 0.5 : 1;
      return (column.kind === "category" ? Number(share > 0.5) : share) * width;
    });
  }

  /**
   * How many records lie inside a box. The errors of all places move together in ways that a picture does not know,
   * so they are added up as if they all went the same way, which is the most that they can do.
   */
  box(ends, x, y) {
    if (this.answers === "distance") return null;
    const found = this.stored(x, y);
    const columns = found.shape[found.shape.length - 1];
    const curve = y === null && this.columns[x].kind !== "category";
    const across = this.shares(this.columns[x], columns, ends[x] ?? endsOf(this.columns[x]), curve);
    const up = y === null ? [1] : this.shares(this.columns[y], found.shape[0], ends[y] ?? endsOf(this.columns[y]), false);
    const whole = (i) => (curve && (i === 0 || i === columns - 1) ? 0.5 : 1);
    let [inside, all, near, far] = [0, 0, 0, 0];
    found.est.forEach((value, place) => {
      const [i, j] = [place % columns, Math.floor(place / columns)];
      const share = across[i] * up[j];
      const reach = found.low === null ? NaN : (found.high[place] - found.low[place]) / 2;
      inside += share * value;
      all += whole(i) * value;
      near += share * reach;
      far += (whole(i) - share) * reach;
    });
    if (!(all > 0)) return null;
    const part = inside / all;
    const reach = (this.records / all) * (Math.abs(1 - part) * near + Math.abs(part) * far) + this.reach * Math.abs(part) * (this.error ?? 0);
    return { ...this.stretch(this.records * part, reach), blurred: true };
  }

  stretch(estimate, reach) {
    const known = Number.isFinite(reach);
    return { estimate, low: known ? estimate - reach : NaN, high: known ? estimate + reach : NaN,
      error: known ? reach / this.reach : Infinity, most: true };
  }
}
