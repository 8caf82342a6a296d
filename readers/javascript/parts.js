// How large the mean of a part of the records may be, by what is counted of the part and of all; see `bounded_means`.

import { total } from "./arrays.js";
/** @import { Tables } from "./tables.js" */

/**
 * The noise of a part: the variance of sums over a column's cells with weights, of the part and of all.
 * @param {Tables} tables
 * @param {number[][]} others By further column, as `Tables.meant` has them.
 */
const noiseOf = (tables, place, others) => {
  const { even, uneven, share } = tables.spreadOver(place, others);
  const both = new Float64Array(tables.axes[place].cells);
  return (part, every) => {
    for (let i = 0; i < both.length; i++) both[i] = share * part[i] + every[i];
    return tables.coarseVariance(place, both) + even * (total(part) / part.length) ** 2 + uneven * tables.axisVariance(place, part);
  };
};

/** The largest r for which a sum less r times a count is not surely below 0 (Fieller). */
const largestQuotient = (sum, count, a, b, c, reach) => {
  const [leading, middle] = [count ** 2 - reach ** 2 * c, sum * count - reach ** 2 * b];
  if (!(leading > 0 && count > 0)) return Infinity;
  return (middle + Math.sqrt(Math.max(middle ** 2 - leading * (sum ** 2 - reach ** 2 * a), 0))) / leading;
};

/** The largest mean that is not told from what was counted of a part; of the mean cells lie at x. */
const largestMean = ({ x, own, part, every, guess, size, chance }, noise, reach) => {
  const sumOf = (counts, weights) => counts.reduce((sum, one, i) => sum + one * own[i] * weights[i], 0);
  const ones = new Float64Array(x.length).fill(1);
  const middle = sumOf(guess, x) / Math.max(sumOf(guess, ones), 1);
  const ownMean = sumOf(part, x) / sumOf(part, ones);
  const order = [...x.keys()].sort((i, j) => x[i] - x[j] || i - j);
  const rank = new Int32Array(x.length);
  order.forEach((cell, place) => { rank[cell] = place; });
  const apart = x.map((one) => one - middle);
  const beside = apart.map((one) => one + 1);
  const [kept, above, mine, all] = [0, 1, 2, 3].map(() => new Float64Array(x.length)); // filled again for every pair of ends
  const noiseBy = (by) => {
    for (let i = 0; i < x.length; i++) {
      mine[i] = kept[i] * by[i];
      all[i] = above[i] * by[i];
    }
    return noise(mine, all);
  };
  // What is left out costs something, and all else only adds to it: null where that is too much already.
  const end = (first, last, most) => {
    let away = 0;
    for (let i = 0; i < x.length; i++) {
      kept[i] = first <= rank[i] && rank[i] < last ? own[i] : 0;
      above[i] = rank[i] >= last ? own[i] : 0;
      away += above[i] * guess[i] * Math.max(apart[i], 0) * (1 - size);
      away += (own[i] - kept[i] - above[i]) * guess[i] * Math.max(-apart[i], 0) * size;
    }
    if (away > most) return null;
    const [moved, plus, c] = [noiseBy(apart), noiseBy(beside), noiseBy(ones)];
    const [a, b] = [moved + chance, (plus - moved - c) / 2];
    let [sum, count] = [0, 0];
    for (let i = 0; i < x.length; i++) {
      const counted = kept[i] * part[i] + above[i] * every[i];
      sum += counted * apart[i];
      count += counted;
    }
    const found = middle + largestQuotient(sum, count, a, b, c, reach);
    const holds = (first === 0 && last === x.length)
      || ((last < x.length ? x[order[last]] >= found : true) && (first > 0 ? x[order[first - 1]] <= found : true));
    return [found, holds ? away + reach * Math.sqrt(a) : Infinity];
  };
  const [below, beyond] = [Math.min, Math.max].map((which) => x.reduce((many, one) => many + Number(one < which(ownMean, middle)), 0));
  let [best, least, last] = [Infinity, Infinity, x.length];
  for (let j = x.length, tried; j >= Math.max(beyond, 1) && (tried = end(0, j, least)); j--) {
    if (tried[1] <= least) [least, last] = [tried[1], j];
  }
  least = Infinity;
  for (let i = 0, tried; i <= Math.min(below, last - 1) && (tried = end(i, last, least)); i++) {
    if (tried[1] < least) [best, least] = tried;
  }
  return best;
};

/** The least and the largest mean of a part that are not told from what was counted. */
export const endsOfMean = (tables, place, others, part, reach) => {
  const noise = noiseOf(tables, place, others);
  return [-1, 1].map((sign) => sign * largestMean({ ...part, x: part.x.map((one) => sign * one) }, noise, reach));
};
