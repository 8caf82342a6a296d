// Arrays of numbers: sums, products, and sides of tables that are flat, the last column fastest.

export const total = (numbers) => {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += numbers[i];
  return sum;
};
export const productOf = (numbers) => numbers.reduce((a, b) => a * b, 1);
/** So many numbers, each made of its place; `Float64Array.from` takes ten times as long. */
export const filled = (count, made) => {
  const found = new Float64Array(count);
  for (let i = 0; i < count; i++) found[i] = made(i);
  return found;
};
/** To the nearest whole number, halves to the even one. */
export const halfEven = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** The sum of products of the places of `one` from `first` to `end` with those of `other`, which begin at `shift`. */
export const dotBetween = (one, other, first, end, shift) => {
  let sum = 0;
  for (let i = first; i < end; i++) sum += one[i] * other[shift + i];
  return sum;
};

export const dot = (one, other) => dotBetween(one, other, 0, one.length, 0);

/** Where a row begins and ends not to be zero: nowhere, of one of zeros. */
export const endsOfRow = (row) => {
  let [first, end] = [0, row.length];
  while (first < end && row[first] === 0) first++;
  while (end > first && row[end - 1] === 0) end--;
  return [first, end];
};

/** A table summed over one axis after another with a matrix each: (…, counters, …) to (…, places, …). */
export const contracted = (table, sides, matrices) => {
  let values = table;
  for (let axis = sides.length - 1; axis >= 0; axis--) { // the last axis is always the one whose entries are neighbours
    const side = sides[axis];
    const rest = values.length / side;
    const next = new Float64Array(matrices[axis].length * rest);
    matrices[axis].forEach((row, n) => {
      const [first, end] = endsOfRow(row);
      if (first < end) for (let r = 0; r < rest; r++) next[n * rest + r] = dotBetween(row, values, first, end, r * side);
    });
    values = next;
  }
  return values;
};

export const centred = (line) => {
  const mean = total(line) / line.length;
  return line.map((value) => value - mean);
};

export const outer = (one, other) => {
  const found = new Float64Array(one.length * other.length);
  for (let i = 0; i < one.length; i++) for (let j = 0; j < other.length; j++) found[i * other.length + j] = one[i] * other[j];
  return found;
};

export const transposed = (numbers, rows, columns) =>
  filled(numbers.length, (i) => numbers[(i % rows) * columns + Math.floor(i / rows)]);

/** The Walsh-Hadamard transform of numbers, in their place. */
export const walshHadamard = (values) => {
  for (let half = 1; half < values.length; half *= 2) {
    for (let block = 0; block < values.length; block += 2 * half) {
      for (let j = block; j < block + half; j++) {
        const [a, b] = [values[j], values[j + half]];
        values[j] = a + b;
        values[j + half] = a - b;
      }
    }
  }
  return values;
};

/** An array without one side, which is added up with weights. */
export const summed = (values, sides, side, weights = null) => {
  const after = productOf(sides.slice(side + 1));
  const own = sides[side];
  const found = new Float64Array(values.length / own);
  for (let from = 0, to = 0; from < values.length; to += after) {
    for (let i = 0; i < own; i++, from += after) {
      const weight = weights ? weights[i] : 1;
      if (weight !== 0) for (let a = 0; a < after; a++) found[to + a] += weight * values[from + a];
    }
  }
  return found;
};

/** All sets of some places, each in order, the largest first. */
export const subsets = (places) => places.reduce((found, place) => found.flatMap((one) => [[...one, place], one]), [[]]);

/** The order of sets of columns: by their number, then by places. */
export const inOrder = (one, other) => {
  const at = one.findIndex((place, i) => place !== other[i]);
  return one.length - other.length || (at < 0 ? 0 : one[at] - other[at]);
};
