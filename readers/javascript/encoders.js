// Encoded columns: few numbers that public steps of the file make of other columns, as `core.domain.encoders` does.
import { ReaderError } from "./archive.js";
import { dot } from "./arrays.js";

const FARTHEST = 1e100;
const FUNCTIONS = { abs: Math.abs, square: (x) => x * x, sqrt: (x) => Math.sqrt(Math.max(x, 0)), relu: (x) => Math.max(x, 0), tanh: Math.tanh,
  exp: (x) => Math.exp(Math.min(x, 230)), log1p: (x) => Math.log1p(Math.max(x, -1 + 2 ** -52)), sin: Math.sin, cos: Math.cos };

const stepped = (places, { matrix, offset, scale, clip, ball, sphere, function: name }) => {
  if (matrix) return matrix.map((row, k) => dot(row, places) + offset[k]);
  if (scale) return places.map((one, k) => one * scale[k] + offset[k]);
  if (clip) return places.map((one) => Math.min(Math.max(one, clip[0]), clip[1]));
  if (Object.hasOwn(FUNCTIONS, name ?? "")) return places.map(FUNCTIONS[name]);
  const length = Math.sqrt(dot(places, places));
  if (ball) return places.map((one) => one * (ball / Math.max(length, ball)));
  if (sphere) return places.map((one) => (length > 0 ? one * (sphere / length) : 0));
  throw new ReaderError("The file makes its numbers by a step that this reader does not know; a newer one may.");
};

/** What a column's steps make of coordinates of the columns that it reads, inside its bounds. */
export const imageOfRead = ({ steps, low, high }, places) => {
  const found = steps.reduce((before, step) => stepped(before, step).map((one) => Math.min(Math.max(one, -FARTHEST), FARTHEST)), places);
  return found.map((one) => Math.min(Math.max(one, low), high));
};
