// Bytes: what travels packed in the page.
import { inflated } from "../../../readers/javascript/archive.js";
import { filled } from "../../../readers/javascript/arrays.js";

/** Values that were packed as JSON. */
export const unzipped = async (text) => JSON.parse(new TextDecoder().decode(await inflated(fromBase64(text), "gzip")));

export const fromBase64 = (text) => {
  const own = /** @type {any} */ (Uint8Array).fromBase64; // where a browser knows it
  if (own) return own.call(Uint8Array, text);
  const letters = atob(text);
  const found = new Uint8Array(letters.length);
  for (let i = 0; i < found.length; i++) found[i] = letters.charCodeAt(i);
  return found;
};

/** Of a file the question, group or run of periods that a population is. */
export const populationOf = ({ part, group, run }, release) => {
  const question = part ? release.part(part) : run ? release.run(run) : release;
  return group ? question.ofClass(group) : question;
};

const parts = (shape, all) => {
  const size = shape.reduce((a, b) => a * b, 1);
  const [est, low, high] = [0, 1, 2].map((place) => all.subarray(place * size, (place + 1) * size));
  return { shape, est, low: low.length ? low : null, high: high.length ? high : null };
};

/** The numbers of a picture: estimates, and both ends of their intervals where they are known. */
export const unpacked = ({ shape, numbers }) => parts(shape, new Float32Array(fromBase64(numbers).buffer));

/** Of a map its estimates and their standard errors; intervals reach so many of these. */
export const unpackedAnswers = ({ shape, reach, numbers }) => {
  const all = new Float64Array(fromBase64(numbers).buffer);
  const [est, error] = [all.subarray(0, all.length / 2), all.subarray(all.length / 2)];
  const [low, high] = [-reach, reach].map((by) => est.map((one, i) => one + by * error[i]));
  return { shape, est, low, high, error };
};

/** The same of a map that was worked out before, in whole steps but where `most` is, which has it to the last digit. */
export const unpackedSteps = ({ shape, step, numbers, top, most }) => {
  const steps = new Int16Array(fromBase64(numbers).buffer);
  const all = filled(steps.length, (i) => steps[i] * step);
  most.forEach((number, part) => { all[(part * all.length) / most.length + top] = number; });
  return parts(shape, all);
};
