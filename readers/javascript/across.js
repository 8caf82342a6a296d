// Answers at all combinations of values of one or two columns, the others held at a value or averaged over.
import { ReaderError } from "./archive.js";
import { PublicRandom } from "./random.js";

/** What a column may be averaged over: its categories, or so many even places between its bounds, in random order. */
const spreadOf = (column, count, random) => {
  const order = Array.from(random.uniforms(count).entries()).sort(([, a], [, b]) => a - b).map(([i]) => i);
  if (column.categories) return order.map((i) => column.categories[i % column.categories.length]);
  const between = (i) => column.between((i + 0.5) / count);
  if (column.kind !== "vector") return order.map(between);
  return order.map(() => Array.from(random.uniforms(column.length), (share) => column.low + share * (column.high - column.low)));
};

/** Places of the columns that are left out: `count` of them, each a value by column. */
const left = (domain, known, count) => {
  const columns = domain.columns.filter(({ name }) => !(name in known));
  const random = new PublicRandom(0);
  const spread = columns.map((column) => spreadOf(column, count, random));
  return columns.length ? Array.from({ length: count }, (_, i) => Object.fromEntries(columns.map(({ name }, c) => [name, spread[c][i]]))) : [{}];
};

/** Queries at all combinations of drawn values, those of the first column beside each other. */
const crossed = (drawn, fixed) => {
  const names = Object.keys(drawn);
  const size = names.reduce((product, name) => product * drawn[name].length, 1);
  let each = 1;
  const queries = Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, [value]]));
  for (const name of names) {
    const [values, step] = [drawn[name], each];
    queries[name] = Array.from({ length: size }, (_, i) => values[Math.floor(i / step) % values.length]);
    each *= values.length;
  }
  if (!names.length) for (const name of Object.keys(queries)) queries[name] = queries[name].slice(0, 1);
  return queries;
};

/** Coordinates of values along one drawn column alone; the other coordinates are left out. */
const alone = (sketch, name, values, sample) => {
  const domain = sketch.domain.only([name]);
  const { count, coordinates } = domain.encode({ [name]: values }, sketch.metric);
  const first = sketch.domain.starts[sketch.domain.names.indexOf(name)];
  return { count, coordinates: Object.assign(Array(sample), Object.fromEntries(coordinates.map((one, k) => [first + k, one]))) };
};

/**
 * Estimates with errors at all combinations of `drawn` values (at most two columns, the first one fastest); columns of
 * `held` have one value, and answers are averaged over `places` of all others.
 */
export const across = (release, drawn, held, places) => {
  const { sketch, population } = release;
  const { table, records, variance } = population;
  const names = Object.keys(drawn);
  const others = left(sketch.domain, { ...drawn, ...held }, places);
  if (sketch.rowAt) return sketch.answerAcross(table, variance, drawn, held);
  if (!sketch.groupEstimates) {
    if (others.length > 1) throw new ReaderError("Of distances every column needs a value.");
    return sketch.answer(table, records, sketch.encode(crossed(drawn, { ...held, ...others[0] })), variance, 0.95);
  }
  if (sketch.groupEstimatesAcross && names.length) {
    const [x, y = { count: 1, coordinates: [] }] = names.map((name) => alone(sketch, name, drawn[name], sketch.domain.dimensions));
    const rest = others.map((other) => ({ ...held, ...other }));
    const fixed = rest.map((values) => Object.keys(values).map((name) => alone(sketch, name, [values[name]], sketch.domain.dimensions)));
    return sketch.answerOf(sketch.groupEstimatesAcross(table, records, x, y, fixed));
  }
  let sums = null;
  for (const other of others) {
    const found = sketch.groupEstimates(table, records, sketch.encode(crossed(drawn, { ...held, ...other })));
    if (sums) sums.estimates.forEach((one, g) => { for (let i = 0; i < one.length; i++) one[i] += found.estimates[g][i]; });
    else sums = found;
  }
  for (const one of sums.estimates) for (let i = 0; i < one.length; i++) one[i] /= others.length;
  return sketch.answerOf(sums);
};
