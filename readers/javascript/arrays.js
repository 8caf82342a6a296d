// Arrays of numbers: sums, products, and sides of tables that are flat, the last column fastest.

export const total = (numbers) => {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += numbers[i];
  return sum;
};
export const productOf = (numbers) => numbers.reduce((a, b) => a * b, 1);
/** To the nearest whole number, halves to the even one. */
export const halfEven = (x) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));

/** The sum of products of the places of `one` from `first` to `end` with those of `other`, which begin at `shift`. */
export const dotBetween = (one, other, first, end, shift) => {
  let sum = 0;
  for (let i = first; i < end; i++) sum += one[i] * other[shift + i];
  return sum;
};

export const dot = (one, other) => dotBetween(one, other, 0, one.length, 0);

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
  Float64Array.from(numbers, (_, i) => numbers[(i % rows) * columns + Math.floor(i / rows)]);

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
