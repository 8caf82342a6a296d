// Cubic B-splines on an even grid: the combination that comes closest to a function in the mean square.
import { dotBetween, filled } from "./arrays.js";

const MARGIN = 8, ORDER = 4;
export const A_CELL = 4; // Points in a cell at which a function is fitted.

export const bspline = (x) => {
  const far = Math.abs(x);
  return far < 1 ? (4 - 6 * far ** 2 + 3 * far ** 3) / 6 : Math.max(2 - far, 0) ** 3 / 6;
};

/** Where a function is fitted, in pitches from the lower bound. */
const fittingPoints = (cells) =>
  filled((cells + 2 + 2 * MARGIN) * A_CELL + 1, (i) => i / A_CELL - MARGIN - 1);

const TAPS = filled(4 * A_CELL + 1, (i) => bspline((i - 2 * A_CELL) / A_CELL));

/** The Cholesky factor of the splines' inner products, which are the same along the whole grid: rows of four. */
const factored = (nodes) => {
  const band = [0, 1, 2, 3].map((shift) => {
    let sum = 0;
    for (let i = 0; i + shift * A_CELL < TAPS.length; i++) sum += TAPS[i] * TAPS[i + shift * A_CELL];
    return sum;
  });
  const lower = new Float64Array(nodes * ORDER); // [i][k] is L(i, i - 3 + k)
  const entry = (i, j) => (j < 0 || i - j > 3 ? 0 : lower[i * ORDER + 3 - (i - j)]);
  for (let i = 0; i < nodes; i++) {
    for (let j = Math.max(0, i - 3); j <= i; j++) {
      let sum = band[i - j];
      for (let k = Math.max(0, i - 3); k < j; k++) sum -= entry(i, k) * entry(j, k);
      lower[i * ORDER + 3 - (i - j)] = i === j ? Math.sqrt(sum) : sum / entry(j, j);
    }
  }
  return lower;
};

const solved = (lower, right) => {
  const nodes = right.length;
  for (let i = 0; i < nodes; i++) {
    for (let j = Math.max(0, i - 3); j < i; j++) right[i] -= lower[i * ORDER + 3 - (i - j)] * right[j];
    right[i] /= lower[i * ORDER + 3];
  }
  for (let i = nodes - 1; i >= 0; i--) {
    for (let j = i + 1; j < Math.min(nodes, i + 4); j++) right[i] -= lower[j * ORDER + 3 - (j - i)] * right[j];
    right[i] /= lower[i * ORDER + 3];
  }
  return right;
};

/** Fits functions to one axis of a grid; what does not depend on the function is worked out once. */
export const fitter = (cells) => {
  const nodes = cells + 3 + 2 * MARGIN;
  const [lower, points] = [factored(nodes), fittingPoints(cells)];
  const [values, last] = [new Float64Array(points.length), points.length - 1];
  const indexOf = (place) => (place + MARGIN + 1) * A_CELL;
  /** A function of the place in pitches, zero but for some stretch, to coefficients of the splines that reach inside the bounds. */
  return (f, [from, to] = [-Infinity, Infinity]) => {
    const [first, end] = [Math.max(0, Math.ceil(indexOf(from))), Math.min(last, Math.floor(indexOf(to)))];
    values.fill(0);
    let seen = false;
    for (let i = first; i <= end; i++) seen = (values[i] = f(points[i])) !== 0 || seen;
    const right = new Float64Array(nodes);
    if (seen) {
      // Straight lines are their own coefficients. Without one the rest is zero at both ends, where the fit is cut off.
      const [start, rise] = [values[0], values[last] - values[0]];
      if (start || rise) for (let i = 0; i <= last; i++) values[i] -= start + (rise * i) / last;
      const [least, most] = start || rise ? [0, last] : [first, end];
      for (let j = Math.max(0, Math.ceil(least / A_CELL) - 2); j < nodes && A_CELL * (j - 2) <= most; j++) {
        const shift = A_CELL * (j - 2);
        right[j] = dotBetween(TAPS, values, Math.max(0, least - shift), Math.min(TAPS.length, most + 1 - shift), shift);
      }
      solved(lower, right);
      if (start || rise) for (let j = 0; j < nodes; j++) right[j] += start + (rise * j) / (nodes - 1);
    }
    return right.subarray(MARGIN, MARGIN + cells + 3);
  };
};

/** A combination of splines at a place in pitches from the lower bound. */
export const combined = (weights, place) => {
  const cell = Math.min(Math.max(Math.floor(place), 0), weights.length - ORDER);
  let sum = 0;
  for (let k = 0; k < ORDER; k++) sum += weights[cell + k] * bspline(place - cell + 1 - k);
  return sum;
};

/** The same combination as splines of half the pitch: each is the sum of those, weighted 1, 4, 6, 4, 1 over 8. */
export const finer = (rough) => {
  const found = new Float64Array(2 * rough.length - 3);
  for (let i = 0; i + 1 < rough.length; i++) found[2 * i] = (rough[i] + rough[i + 1]) / 2;
  for (let i = 0; i + 2 < rough.length; i++) found[2 * i + 1] = (rough[i] + 6 * rough[i + 1] + rough[i + 2]) / 8;
  return found;
};
