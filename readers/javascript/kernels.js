// Kernels: how close two encoded points are.
import { ReaderError } from "./archive.js";
import { dot, filled } from "./arrays.js";
import { erf } from "./special.js";

const PROFILES = {
  gaussian: { metric: "l2", at: (c, p) => Math.exp(-0.5 * p * c * c) },
  exponential: { metric: "l2", at: (c, p) => Math.exp(-p * c) },
  laplacian: { metric: "l1", at: (c, p) => Math.exp(-p * c) },
  smooth: { metric: "l2", at: (c, p) => (1 + c) ** -p },
  "smooth-squared": { metric: "l2", at: (c, p) => (1 + c * c) ** -p },
  "smooth-l1": { metric: "l1", at: (c, p) => (1 + c) ** -p },
  euclidean: { metric: "l2", at: (distance, p) => {
    const c = Math.max(distance, 1e-100);
    const u = 1 / c;
    const far = (u / Math.sqrt(2 * Math.PI)) * (1 - u ** 2 / 12); // the two terms cancel there
    return (u < 1e-2 ? far : erf(Math.SQRT1_2 * u) + Math.sqrt(2 / Math.PI) * c * Math.expm1(-0.5 * u * u)) ** p;
  } },
  manhattan: { metric: "l1", at: (distance, p) => {
    const c = Math.max(distance, 1e-90);
    const far = (1 / c / Math.PI) * (1 - 1 / (6 * c * c));
    return (c > 1e4 ? far : (2 / Math.PI) * Math.atan(1 / c) - (c / Math.PI) * Math.log1p(1 / (c * c))) ** p;
  } },
};

const DEEPEST = 4, MOST_PARTS = 16;

/** A kernel as a file writes it, checked. */
export const checkedKernel = (kernel, depth = 0) => {
  const parts = kernel?.parts;
  const known = Object.hasOwn(PROFILES, kernel?.name ?? "") || ["angular", "product", "mixture"].includes(kernel?.name);
  const composite = ["product", "mixture"].includes(kernel?.name);
  if (!known || depth > DEEPEST || (composite && !(parts?.length >= 1 && parts.length <= MOST_PARTS))) {
    throw new ReaderError("The file has a kernel that this reader does not know; a newer one may.");
  }
  parts?.forEach((part) => checkedKernel(part, depth + 1));
  return kernel;
};

export const metricOf = (kernel) =>
  kernel.parts ? (kernel.parts.every((part) => metricOf(part) === "l1") ? "l1" : "l2") : PROFILES[kernel.name]?.metric ?? "l2";

/** The bandwidth of every encoded coordinate, from one number or one a column. */
export const coordinateBandwidths = (bandwidth, widths) =>
  Float64Array.from(widths.flatMap((width, column) => Array(width).fill(Array.isArray(bandwidth) ? bandwidth[column] : bandwidth)));

/** Whether a kernel is the product of one factor a coordinate. */
export const isProductOfColumns = (kernel) =>
  kernel.name === "product" ? kernel.parts.every(isProductOfColumns) : ["gaussian", "laplacian"].includes(kernel.name);

/**
 * The kernel as a function of the differences of two points, by coordinates: `between(differences)`, where
 * coordinates that are left out are equal. Kernels of an angle are no such functions.
 */
export const ofDifferences = (kernel, widths) => {
  if (kernel.name === "product") {
    const parts = kernel.parts.map((part) => ofDifferences(part, widths));
    return (at) => parts.reduce((product, part) => product * part(at), 1);
  }
  if (kernel.name === "mixture") {
    const parts = kernel.parts.map((part) => ofDifferences(part, widths));
    return (at) => parts.reduce((sum, part, i) => sum + kernel.weights[i] * part(at), 0);
  }
  if (kernel.name === "angular") throw new ReaderError("A grid that is read by angles is nothing that this reader can read.");
  const [{ metric, at: profile }, lengths, power] = [PROFILES[kernel.name], coordinateBandwidths(kernel.bandwidth, widths), kernel.power ?? 1];
  return (at) => {
    let sum = 0;
    for (const [coordinate, difference] of at) {
      const steps = Math.abs(difference) / lengths[coordinate];
      sum += metric === "l1" ? steps : steps * steps;
    }
    return profile(metric === "l1" ? sum : Math.sqrt(sum), power);
  };
};

/** The same along one coordinate alone, as a function of the difference, which a grid asks for a million times. */
export const alongCoordinate = (kernel, widths, coordinate) => {
  const parts = kernel.parts?.map((part) => alongCoordinate(part, widths, coordinate));
  if (kernel.name === "product") return (difference) => parts.reduce((product, part) => product * part(difference), 1);
  if (kernel.name === "mixture") return (difference) => parts.reduce((sum, part, i) => sum + kernel.weights[i] * part(difference), 0);
  const [{ at: profile }, length, power] = [PROFILES[kernel.name], coordinateBandwidths(kernel.bandwidth, widths)[coordinate], kernel.power ?? 1];
  return (difference) => profile(Math.abs(difference) / length, power);
};

/** How far a kernel reaches along a coordinate: beyond, a factor of it is less than 1e-17. */
export const reachAlong = ({ name, parts, bandwidth, power = 1 }, widths, coordinate) => {
  if (name === "product") return Math.min(...parts.map((part) => reachAlong(part, widths, coordinate)));
  const bandwidths = { gaussian: 9, laplacian: 40 }[name] / Math.min(power, 1);
  return bandwidths ? bandwidths * coordinateBandwidths(bandwidth, widths)[coordinate] : Infinity;
};

const LARGEST_ERROR = 3e-5, RATIOS = [2, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.05];

export const geometric = (low, high, count) =>
  filled(count, (i) => (i === count - 1 ? high : 10 ** (Math.log10(low) + (i * (Math.log10(high) - Math.log10(low))) / (count - 1))));

/** Non-negative least squares (Lawson, Hanson 1974): columns of a matrix, and what they should add up to. */
const nonNegative = (columns, truth) => {
  const count = columns.length;
  const inner = columns.map(() => new Float64Array(count));
  for (let i = 0; i < count; i++) for (let j = 0; j <= i; j++) inner[i][j] = inner[j][i] = dot(columns[i], columns[j]);
  const right = columns.map((one) => dot(one, truth));
  const [weights, free] = [new Float64Array(count), new Set()];
  const solvedOn = (chosen) => {
    const rows = chosen.map((i) => [...chosen.map((j) => inner[i][j]), right[i]]);
    for (let c = 0; c < rows.length; c++) {
      const best = rows.slice(c).reduce((most, row, i) => (Math.abs(row[c]) > Math.abs(rows[most][c]) ? c + i : most), c);
      [rows[c], rows[best]] = [rows[best], rows[c]];
      for (let r = 0; r < rows.length; r++) {
        if (r === c) continue;
        const factor = rows[r][c] / rows[c][c];
        for (let k = c; k <= rows.length; k++) rows[r][k] -= factor * rows[c][k];
      }
    }
    return rows.map((row, c) => row[rows.length] / row[c]);
  };
  for (let step = 0; step < 100 * count; step++) {
    const pull = right.map((one, i) => (free.has(i) ? -Infinity : one - dot(inner[i], weights)));
    const best = pull.indexOf(Math.max(...pull));
    if (free.size === count || !(pull[best] > 1e-12)) break;
    free.add(best);
    for (;;) {
      const chosen = [...free];
      const found = solvedOn(chosen);
      if (found.every((one) => one > 0)) {
        weights.fill(0);
        chosen.forEach((i, k) => { weights[i] = found[k]; });
        break;
      }
      let share = 1;
      chosen.forEach((i, k) => { if (found[k] <= 0) share = Math.min(share, weights[i] / (weights[i] - found[k])); });
      chosen.forEach((i, k) => {
        weights[i] += share * (found[k] - weights[i]);
        if (weights[i] <= 1e-15) {
          weights[i] = 0;
          free.delete(i);
        }
      });
    }
  }
  return weights;
};

const mixtures = new Map();

/** A kernel of a distance as a mixture of Gaussians, or of Laplacians: weights, and bandwidths as shares of its own. */
export const radialMixture = (kernel) => {
  const key = `${kernel.name} ${kernel.power ?? 1}`;
  if (!mixtures.has(key)) mixtures.set(key, fittedMixture(PROFILES[kernel.name], kernel.power ?? 1));
  return mixtures.get(key);
};

const fittedMixture = ({ metric, at: profile }, power) => {
  const distances = Float64Array.of(0, ...geometric(1e-7, 1e6, 1300));
  const truth = distances.map((one) => profile(one, power));
  const narrowest = 0.5 * distances[truth.findIndex((one) => one < 1 - LARGEST_ERROR / 2)];
  const widest = distances[truth.findLastIndex((one) => one > LARGEST_ERROR / 2)];
  for (const ratio of RATIOS) {
    const scales = geometric(narrowest, widest, Math.ceil(Math.log(widest / narrowest) / Math.log(ratio)) + 1);
    const columns = Array.from(scales, (scale) => distances.map((one) => (metric === "l1" ? Math.exp(-one / scale) : Math.exp(-0.5 * (one / scale) ** 2))));
    const weights = nonNegative(columns, truth);
    const off = truth.map((one, i) => Math.abs(columns.reduce((sum, column, k) => sum + column[i] * weights[k], 0) - one));
    if (Math.max(...off) < LARGEST_ERROR) return Array.from(weights, (weight, k) => [weight, scales[k]]).filter(([weight]) => weight > 0);
  }
  return null;
};
