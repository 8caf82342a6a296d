// Two releases side by side: the first less the second, with the noise of both in every band.
//
// Bands are those of `core.releases.comparison`: the noise of two releases is independent, so variances add, and a band
// that is longer to one side stays so (MOVER: Zou, Donner 2008). A band that holds 0 says that noise alone may be all.
import { ReaderError } from "./archive.js";
import { filled } from "./arrays.js";
import { normalQuantile } from "./special.js";

/** @import { Release } from "./release.js" */
/** @import { Banded } from "./tables.js" */

const few = (names) => (names.length > 4 ? `${names.slice(0, 4).join(", ")} …` : names.join(", "));
const alike = (one, other) => JSON.stringify(one, (key, value) => (key === "codes" ? undefined : value)) === JSON.stringify(other, (key, value) => (key === "codes" ? undefined : value));
const normOf = ({ facts: { mechanism, parameters } }) => parameters?.norm ?? (mechanism === "distance" ? "l1" : mechanism);

/** What keeps answers of two releases from meaning the same, as a clause; "" where nothing does. */
const whatDiffers = (one, other) => {
  if (!alike(one.names, other.names)) return `the first is of ${few(one.names)}, and the second of ${few(other.names)}`;
  const at = one.columns.findIndex((column, i) => !alike(column, other.columns[i]));
  if (at >= 0) return `the column "${one.names[at]}" is declared otherwise in each of them, as its bounds or values are others`;
  if (one.domain.scale !== other.domain.scale) return "one measures columns in shares of their ranges, and the other in their own units";
  if (one.domain.facts.category_distance !== other.domain.facts.category_distance) return "two categories are not equally far apart in both";
  if (one.answers !== other.answers) return `the first answers ${one.answers}, and the second ${other.answers}`;
  if (one.answers === "tables" && !alike(one.facts.parameters, other.facts.parameters)) return "their cells, or the columns that are counted together, are not the same";
  if (one.answers === "distance" && normOf(one) !== normOf(other)) return "they sum distances of different kinds";
  if (one.answers === "closeness" && !alike(one.sketch.kernel, other.sketch.kernel)) return "they mean different things by close, as their kernels or bandwidths are others";
  return "";
};

const each = (values, change) => filled(values.length, change);

/** @returns {Banded} */
export const minus = (one, other) => ({
  est: each(one.est, (i) => one.est[i] - other.est[i]),
  low: each(one.est, (i) => one.est[i] - other.est[i] - Math.hypot(one.est[i] - one.low[i], other.high[i] - other.est[i])),
  high: each(one.est, (i) => one.est[i] - other.est[i] + Math.hypot(one.high[i] - one.est[i], other.est[i] - other.low[i])),
  error: each(one.est, (i) => Math.hypot(one.error[i], other.error[i])),
});

/** Answers over the number of records, whose own error goes into the bands. */
const shareOf = ({ est, low, high, error }, { records, recordsError }, level) => {
  const spread = each(est, (i) => (Math.abs(est[i]) * recordsError) / records ** 2);
  const reach = spread.map((one) => normalQuantile(0.5 + level / 2) * one);
  return { est: each(est, (i) => est[i] / records), error: each(est, (i) => Math.hypot(error[i] / records, spread[i])),
    low: each(est, (i) => est[i] / records - Math.hypot((est[i] - low[i]) / records, reach[i])),
    high: each(est, (i) => est[i] / records + Math.hypot((high[i] - est[i]) / records, reach[i])) };
};

const banded = ({ estimate, low, high, standardError }) => ({ est: estimate, low, high, error: standardError });

/** Differences of shares of all records, or of average distances. */
export class Comparison {
  /**
   * @param {Release} first
   * @param {Release} second Of the same question to the same columns.
   */
  constructor(first, second) {
    this.both = [first, second];
    const several = this.both.some(({ answers, classes }) => answers === "several" || classes.length);
    const reason = several ? "a release of several questions or groups is compared by one of them" : whatDiffers(first, second);
    if (reason) throw new ReaderError(`These releases cannot be compared: ${reason}.`);
    if (alike(Array.from(first.population.table), Array.from(second.population.table))) throw new ReaderError("These are the same release, which differs from itself in nothing.");
  }

  /** The difference of what both are asked, and each of the two. */
  of(ask, level) {
    const [one, other] = this.both.map((release) => shareOf(ask(release), release, level));
    return { ...minus(one, other), one, other };
  }

  /** At places that are given column by column. */
  answer(queries, level = 0.95) {
    return this.of((release) => banded(release.answer(queries, level)), level);
  }

  /** At all combinations of values of one or two columns, as `Release.across`. */
  across(drawn, held = {}, places = 16) {
    return this.of((release) => banded(release.across(drawn, held, places)), 0.95);
  }

  /** In every cell of some columns of tables: by how much the share of all records differs. */
  table(kept, level = 0.95) {
    return this.of((release) => release.tables(level).count(kept, {}), level);
  }

  /** By how much the mean of a column of tables differs. */
  mean(place, level = 0.95) {
    const [one, other] = this.both.map((release) => release.tables(level).mean(place, [], {}));
    return { ...minus(one, other), one, other };
  }
}
