// Numbers as people should read them: with the digits that their error supports, and no more.
import { amountAt } from "../../../readers/javascript/columns.js";

const signed = (text) => text.replace("-", "\u2212");
/** A writer of numbers for each way to cut them, made once: a page writes hundreds a frame. */
const writers = new Map();
const written = (value, name, digits) => {
  const key = `${name} ${digits}`;
  if (!writers.has(key)) writers.set(key, new Intl.NumberFormat("en-GB", { [`maximum${name}`]: digits, ...(name === "FractionDigits" ? { minimumFractionDigits: digits } : {}) }));
  return signed(writers.get(key).format(value || 0));
};
const grouped = (value, digits) => written(value, "FractionDigits", digits);

export const digitsOf = (value, error, towards) => {
  if (Number.isNaN(value) || Number.isNaN(error)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "\u2212∞";
  if (!(error > 0)) return significant(value, 12);
  if (!Number.isFinite(error)) return "unknown";
  const exponent = Math.floor(Math.log10(error));
  const supported = exponent + Number(10 ** (exponent + 1) <= error) - Number(10 ** exponent > error);
  const place = Number.isInteger(value) ? Math.max(supported, 0) : supported;
  const whole = towards(place < 0 ? value * 10 ** -place : value / 10 ** place);
  return place >= 0 ? grouped(whole * 10 ** place, 0) : grouped(whole / 10 ** -place, Math.min(20, -place));
};

/** A number in the digits that its standard error supports; two digits of one whose error nobody knows. */
export const rounded = (value, error) =>
  Number.isFinite(error) ? digitsOf(value, error, Math.round) : significant(value, 2);

/** Both ends of an interval, rounded outwards. */
export const roundedRange = (low, high, error) => [digitsOf(low, error, Math.floor), digitsOf(high, error, Math.ceil)];

/** A number in so many significant digits. */
export const significant = (value, digits) => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "unknown" : value > 0 ? "∞" : "\u2212∞";
  const cut = Number(value.toPrecision(digits));
  if (cut && (Math.abs(cut) < 1e-9 || Math.abs(cut) >= 1e15)) return signed(cut.toExponential(digits - 1));
  return written(cut, "SignificantDigits", Math.max(1, digits));
};

export const percent = (share) => `${significant(100 * share, 2)}%`;
/** Digits are set apart from ten thousand on, so that years read as years. */
const asYear = (text, value) => (Math.abs(value) < 10000 ? text.replaceAll(",", "") : text);
export const listed = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;

/** The groups with the lowest and the highest answer, in a sentence, where their bands keep them apart.
 *
 * The two are chosen among all, whose bands hold together: noise makes the sentence of one picture in twenty at most. */
export const groupsApart = (groups, what) => {
  const times = Math.max(1.96, deviations(0.025 / groups.length)) / 1.96;
  const bands = groups.map((one) => ({ ...one, low: one.est - times * (one.est - one.low), high: one.est + times * (one.high - one.est) }));
  const [least, ...others] = bands.sort((one, other) => one.est - other.est);
  const most = others.at(-1), named = ({ name, value }) => `${name}: ${value}`;
  if (!(most.low > least.high)) return `${what} surely differs between no two groups: noise hides what there may be.`;
  const ends = [
    bands.slice(0, -1).every(({ high }) => high < most.low) && `highest for ${named(most)}`,
    others.every(({ low }) => low > least.high) && `lowest for ${named(least)}`,
  ].filter(Boolean);
  return `${what} is ${ends.length ? ends.join("; ") : `surely higher for ${most.name}, ${most.value}, than for ${least.name}, ${least.value}`}.`;
};

/** Deviations that a normal variable passes with a chance below a half (Abramowitz and Stegun 26.2.22, to .003). */
export const deviations = (chance) => {
  const t = Math.sqrt(-2 * Math.log(chance));
  return t - (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t);
};

/** The two columns that surely go together, in a sentence; those that come first are the surest.
 *
 * Of many pairs that have nothing to do with each other the bands of some leave 0 out: all are asked at once, so that
 * noise makes the sentence of one table in twenty at most. */
export const strongestPair = ([first, ...others], axes) => {
  const low = first.est - ((first.est - first.low) * Math.max(1.96, deviations(0.05 / (others.length + 1)))) / 1.96;
  const most = others.every(({ high }) => high < first.low) ? " most" : "";
  return first.low > 0 && low > 0 ? `${listed(first.columns.map((place) => axes[place].name))} surely go together${most}.`
    : "No two columns surely go together: noise hides what there may be.";
};

/** Degrees beyond the antimeridian, on which bounds count, as anyone writes them. */
export const ownDegrees = ({ turns }, value) => (turns && value > 180 ? value - 360 : value);
/** A number and its unit; the sign of a degree stands close to it. */
export const withUnit = (text, unit) => `${text}${unit && unit !== "°" ? " " : ""}${unit}`;

/** What is written at a place of a column: a category, a date, or a number to a five-hundredth of its range, or its step. */
export const placeWords = (column, value) => {
  if (column.kind === "category") return column.categories[nearest(column, value)];
  if (column.kind === "date") return dateWords(column, value);
  if (column.kind === "amount") return amountWords(column, value);
  const own = ownDegrees(column, value);
  return withUnit(asYear(digitsOf(own, Math.max((column.high - column.low) / 500, column.gap ?? 0), Math.round), Math.max(-column.low, column.high)), column.unit);
};

const amountWords = (column, place) => withUnit(significant(amountAt(column, place), 3), column.unit);

export const dateWords = (column, value) => {
  const text = new Date(1000 * (column.origin + column.step * Math.round(value))).toISOString();
  return column.step >= 86400 ? text.slice(0, 10) : text.slice(0, column.step >= 60 ? 16 : 19).replace("T", " ");
};

/** The number of steps at a date that somebody typed. */
export const dateNumber = (column, text) => {
  const moment = Date.parse(`${text.trim().replace(" ", "T")}${/[T ]/.test(text.trim()) ? "Z" : ""}`);
  return (moment / 1000 - column.origin) / column.step;
};

export const nearest = (column, value) => Math.min(column.categories.length - 1, Math.max(0, Math.round(value)));
/** @returns {[number, number]} */
export const endsOf = (column) =>
  column.kind === "category" ? [-0.5, column.categories.length - 0.5] : [column.low, column.high];
export const titleOf = (column) => (column.unit ? `${column.name} (${column.unit})` : column.name);

/** Round places between two ends for the marks of an axis, with what is written there. */
export const marksOf = (column, [low, high], most) => {
  if (column.kind === "category") {
    const every = Math.ceil((high - low) / most);
    const places = (column.begins ?? column.categories).map((words, place) => [place, words]);
    return places.filter(([place]) => place % every === 0 && place >= low && place <= high);
  }
  if (column.kind === "date") {
    const own = column.ticks.filter(([place]) => place >= low && place <= high);
    const places = own.length > 1 ? own.map(([place]) => place) : [0.1, 0.5, 0.9].map((t) => low + t * (high - low));
    if (own.length > 1) return own;
    const days = [...new Set(places.map(Math.round))].filter((place) => place >= low && place <= high);
    return days.map((place) => [place, dateWords(column, place)]);
  }
  if (column.kind === "amount") {
    const own = column.ticks.filter(([place]) => place >= low && place <= high);
    if (own.length > 1) return own.filter((_, i) => i % Math.ceil(own.length / most) === 0);
    return [0.1, 0.5, 0.9].map((t) => low + t * (high - low)).map((place) => [place, amountWords(column, place)]);
  }
  // No mark between two whole numbers: of four years they were 2005.0, 2006.0 ….
  const apart = column.gap ? Math.min(most, (high - low) / column.gap) : most;
  return roundMarks(low, high, apart, (place) => ownDegrees(column, place));
};

/** @type {[number, string][]} */
const LARGE = [[1e9, " billion"], [1e6, " million"]];
export const roundMarks = (low, high, most, written = (place) => place) => {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough * 0.999);
  const far = Math.max(Math.abs(low), Math.abs(high));
  const [unit, name] = LARGE.find(([one]) => far >= one && step >= one / 10) ?? [1, ""];
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  const marks = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9 * step; place++) {
    marks.push([place * step, place ? asYear(grouped(written(place * step) / unit, Math.min(20, digits)), far) + name : grouped(0, unit > 1 ? 0 : Math.min(20, digits))]);
  }
  return marks;
};

/** The same of shares, written as percent. */
export const shareMarks = (low, high, most, unit = "%") => roundMarks(100 * low, 100 * high, most).map(([place, words]) => [place / 100, `${words}${unit}`]);

// The columns of released tables, whose cells have words.

export const told = (low) => low > 0;
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

/** Days from one moment to another as people say them: "2024", "March 2024", "3 to 9 March 2024". */
const daysWords = (...moments) => {
  const [a, b] = moments.map((seconds) => new Date(1000 * seconds));
  const [days, month, year] = [(one) => one.getUTCDate(), (one) => one.getUTCMonth(), (one) => one.getUTCFullYear()];
  const ends = days(a) === 1 && new Date(b.getTime() + 86400000).getUTCDate() === 1;
  const said = (one, parts) => [parts > 2 && days(one), parts > 1 && MONTHS[month(one)], year(one)].filter(Boolean).join(" ");
  if (a.getTime() === b.getTime()) return said(a, 3);
  if (ends && month(a) === 0 && month(b) === 11) return year(a) === year(b) ? said(a, 1) : `${year(a)} to ${year(b)}`;
  if (ends && said(a, 2) === said(b, 2)) return said(a, 2);
  if (ends) return `${year(a) === year(b) ? MONTHS[month(a)] : said(a, 2)} to ${said(b, 2)}`;
  if (said(a, 2) === said(b, 2)) return `${days(a)} to ${said(b, 3)}`;
  return `${year(a) === year(b) ? `${days(a)} ${MONTHS[month(a)]}` : said(a, 3)} to ${said(b, 3)}`;
};

const secondsAt = (axis, value) => axis.origin + axis.seconds * value;

/** Cells of a column from one to another in words. */
export const stretchWords = (axis, first, last) => {
  if (axis.kind === "category" || last >= axis.valued) return axis.words[first];
  if (axis.kind === "date" && axis.seconds === 86400) return daysWords(secondsAt(axis, axis.edges[first]), secondsAt(axis, axis.edges[last + 1] - axis.gap));
  if (first === last) return withUnit(axis.words[first].replace(/(^|to )-/g, "$1\u2212"), axis.unit);
  const [low, high] = [axis.edges[first], axis.edges[last + 1] - axis.gap];
  return `${valueWords(axis, low)} to ${withUnit(valueWords(axis, high), axis.unit)}`;
};

/** The middle of a cell of a map, as people say where something is: "45.8° north, 4.8° east". */
export const onEarth = ([across, up], x, y) => [[up, y, "north", "south"], [across, x, "east", "west"]].map(([{ edges, ...axis }, cell, more, less]) => {
  const middle = ownDegrees(axis, (edges[cell] + edges[cell + 1]) / 2);
  return `${digitsOf(Math.abs(middle), edges[cell + 1] - edges[cell], Math.round)}° ${middle < 0 ? less : more}`;
}).join(", ");

/** A value of a column in the digits that an error supports; without one, that its cells do. */
export const valueWords = (axis, exact, error = null) => {
  if (!Number.isFinite(exact)) return "unknown";
  const value = ownDegrees(axis, exact);
  if (axis.kind === "date") {
    return axis.seconds === 86400 ? daysWords(secondsAt(axis, Math.round(value)), secondsAt(axis, Math.round(value))) : dateWords({ origin: axis.origin, step: axis.seconds }, value);
  }
  const fine = axis.drawn ? Math.max(axis.gap, Math.abs(value) / 200, 1e-9) : axis.gap || (axis.high - axis.low) / 500;
  const text = digitsOf(value, error === null ? fine : Math.max(error, 1e-12), Math.round);
  return asYear(text, value);
};

/** The step to which a value of one record is said however much noise there is, as whole years are; 0 where steps are
 * so fine, as cents are, that digits would be noise. */
export const wholeDigits = ({ gap, high, low }) => (gap >= (high - low) / 1000 ? gap : 0);

/** A number about a column with its band, in the digits that the band supports. */
export const bandWords = (axis, { est, low, high }, whole = false) => {
  if (!Number.isFinite(est)) return "too few";
  if (axis.kind === "date") return axis.seconds === 86400 ? `${valueWords(axis, est)} (${daysWords(...[low, high].map((one) => secondsAt(axis, Math.round(one))))})` : `${valueWords(axis, est)} (${valueWords(axis, low)} to ${valueWords(axis, high)})`;
  const step = whole && wholeDigits(axis);
  const error = step || Math.max((high - low) / 3.92, (axis.high - axis.low) * 1e-6);
  const [least, most] = step ? [low, high].map((one) => valueWords(axis, one)) : roundedRange(...[low, high].map((one) => ownDegrees(axis, one)), error).map((text, end) => asYear(text, [low, high][end]));
  return least === most ? valueWords(axis, est, error) : `${valueWords(axis, est, error)} (${least} to ${most})`;
};

/** Quantiles of a column in the digits that all of their bands support. */
export const endsWords = (axis, ...ends) => {
  const error = axis.drawn ? null : wholeDigits(axis) || Math.max(...ends.map(({ low, high }) => (high - low) / 3.92), (axis.high - axis.low) / 2000);
  return ends.map(({ est }) => valueWords(axis, est, error));
};

/** Where half of those lie who have a value, in a sentence, beside where half of everyone does. */
export const halfWords = (axis, { mean, quartiles: [low, , high] }, everyone = null) => {
  if (!Number.isFinite(mean.est)) return "Too few have a value to be told from none.";
  const [from, to] = endsWords(axis, low, high);
  const beside = everyone ? `; of everyone ${endsWords(axis, everyone.quartiles[0], everyone.quartiles[2]).join(" to ")}` : "";
  return `Half are ${from} to ${withUnit(to, axis.unit)}${beside}.`;
};

/** A share in the digits that its error supports, for the end of a row. */
export const shareDigits = ({ est, low, high }, i) => {
  if (Number.isNaN(est[i])) return "";
  if (low && !told(low[i])) return `≤ ${significant(Math.max(0, 100 * high[i]), 2)}%`;
  return `${low ? rounded(100 * est[i], Math.max(est[i] < 0.01 ? 0.01 : 0.1, (100 * (high[i] - low[i])) / 3.92)) : significant(100 * est[i], 2)}%`;
};

/** The cell that seems to have most, but for that of those who miss a value. */
export const mostOf = ({ est }, missing) => {
  let most = -1;
  for (let i = 0; i < est.length; i++) if (i !== missing && (most < 0 || est[i] > est[most])) most = i;
  return most;
};

/** Whatever may be ahead of it as well, as far as the noise lets it be seen. */
export const rivalsOf = ({ est, low, high }, most, missing) =>
  Array.from(est, (_, i) => i).filter((i) => i !== most && i !== missing && low && high[i] > low[most]);

/** What is most frequent, in words, with all that may be; "" of dates where noise hides which stretch has most. */
export const leadOf = (axis, found, most) => {
  if (found.low && !told(found.low[most])) return "The noise hides what is most frequent.";
  const rivals = rivalsOf(found, most, axis.missing), one = (i) => `${stretchWords(axis, i, i)} (${shareDigits(found, i)})`;
  if (axis.kind !== "category") return rivals.length ? "" : `Most in ${stretchWords(axis, most, most)}: ${shareDigits(found, most)}`;
  if (rivals.length > 2 || rivals.length + 1 === axis.cells - Number(axis.missing >= 0)) return `No answer stands out: none is above ${significant(100 * found.high[most], 2)}%.`;
  if (rivals.length) return `Most often ${[most, ...rivals].map(one).join(" or ")}`;
  return `Most ${found.est[most] > 0.5 ? "are" : "often"} ${stretchWords(axis, most, most)}: ${shareDigits(found, most)}`;
};

export const shareWords = (found, i) => {
  const { est, low, high } = found;
  if (Number.isNaN(est[i])) return "too few people are left to be told";
  if (!low) return `about ${significant(100 * est[i], 2)}%, by the best guess`;
  if (!told(low[i])) return `at most ${significant(Math.max(0, 100 * high[i]), 2)}%`;
  const error = (100 * (high[i] - low[i])) / 3.92;
  return `${rounded(100 * est[i], error)}% (${roundedRange(100 * low[i], 100 * high[i], error).join(" to ")})`;
};
