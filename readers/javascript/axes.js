// The axes of released tables: every category is a cell, and numbers are cut at public edges between their bounds.
//
// Names and rules are those of `core.sketches.tables.table_axes`. Where a column has steps, cells hold whole values, and
// dates are cut where a calendar is.
import { ReaderError } from "./archive.js";
import { filled } from "./arrays.js";

/** @import { Column } from "./columns.js" */
/**
 * What is known of one column.
 * @typedef {object} TableAxis
 * @property {string} name
 * @property {number} cells
 * @property {number} valued Cells of values: all but the last one, of those who have none.
 * @property {number} halvings How often each is halved where the column is alone.
 * @property {Float64Array} edges Where cells of values begin and the last one ends.
 * @property {Float64Array} fineEdges
 * @property {number} gap Between neighbouring values; 0 where any may be.
 * @property {boolean} dated Whether its numbers are dates, which heap at no round numbers.
 * @property {readonly string[]} categories None of numbers.
 * @property {number} low
 * @property {number} high
 * @typedef {{low: number, step: number, count: number}} Steps
 */

const MOST_VALUES = 2 ** 40, FEWEST = 3, DAY = 86400, MOST_AXIS_CELLS = 1 << 16;
/** Where a calendar may be cut, from the finest: the seconds of a unit, about, how many of them, and the unit. */
const CALENDAR = /** @type {[number, number, string][]} */ ([...[1, 5, 15, 30].map((every) => [1, every, ""]), ...[1, 5, 15, 30].map((every) => [60, every, ""]), ...[1, 2, 3, 6, 12].map((every) => [3600, every, ""]), [DAY, 1, ""],
  [7 * DAY, 1, "week"], [7 * DAY, 2, "week"], ...[1, 2, 3, 6].map((every) => [30 * DAY, every, "month"]), ...[1, 2, 5, 10, 20, 50, 100].map((every) => [365 * DAY, every, "year"])]);

/** @returns {Steps | null} */
const stepsOf = (column) => {
  const step = column.kind === "numeric" ? column.step : column.kind === "date" || column.kind === "text_length" ? 1 : 0;
  if (!step) return null;
  const span = (column.high - column.low) / step;
  return span < MOST_VALUES ? { low: column.low, step, count: Math.floor(span + 1e-9) + 1 } : null;
};

const clipped = (value, low, high) => Math.min(Math.max(value, low), high);

/** The number of the first value that is not below a place on the scale of amounts. */
const firstValue = (column, { low, step, count }, place) => clipped(Math.ceil((column.natural(place) - low) / step - 1e-6), 0, count);

/** The number of the first value of each cell, and that of all values at the end. */
const cutValues = (column, steps, most) => {
  const cells = Math.min(most, steps.count);
  if (column.finest && cells < steps.count) return byDoublings(column, steps, cells);
  const found = column.kind === "date" && cells < steps.count ? byCalendar(column, steps, cells) : null;
  const each = Math.ceil(steps.count / cells);
  return found ?? [...Array.from({ length: Math.ceil(steps.count / each) }, (_, i) => i * each), steps.count];
};

const byDoublings = (column, steps, most) => {
  const [low, high] = [0, steps.count].map((one) => column.placed(steps.low + steps.step * one));
  let found = null;
  for (let cells = most; cells < 4 * most; cells += Math.max(1, Math.floor(most / 16))) {
    const places = Array.from({ length: cells + 1 }, (_, i) => (i === cells ? high : low + i * ((high - low) / cells)));
    const starts = [...new Set(places.map((place) => firstValue(column, steps, place)))].sort((a, b) => a - b);
    if (found && starts.length - 1 > most) break;
    found = starts;
  }
  return found;
};

/** Seconds since 1970 where a month or a year begins, by its number from 1970. */
const beginOf = (unit, number) => new Date(0).setUTCFullYear(unit === "year" ? 1970 + number : 1970, unit === "year" ? 0 : number, 1) / 1000;

/** Cells that begin where the finest calendar does that has no more; null where that has much fewer. */
const byCalendar = (column, { count }, most) => {
  const [first, last] = [column.start, column.start + (count - 1) * column.seconds];
  for (const [about, every, unit] of CALENDAR) {
    if (every * about < column.seconds || count * column.seconds > 2 * most * every * about) continue;
    const days = unit === "week" ? DAY : about;
    const numberOf = (seconds) => {
      const date = new Date(1000 * seconds);
      const years = date.getUTCFullYear() - 1970;
      return unit === "year" ? years : unit === "month" ? 12 * years + date.getUTCMonth() : Math.floor(seconds / days);
    };
    const inside = [];
    for (let number = numberOf(first); number <= numberOf(last); number++) {
      const [turn, length] = unit === "week" ? [number - 4, 7 * every] : [unit === "year" ? number + 1970 : number, every];
      if (turn % length) continue;
      const value = Math.floor(((unit === "month" || unit === "year" ? beginOf(unit, number) : number * days) - column.start) / column.seconds);
      if (value > 0 && value < count) inside.push(value);
    }
    if (inside.length < most) return inside.length + 1 >= Math.max(FEWEST, most / 2) ? [0, ...inside, count] : null;
  }
  return null;
};

/** The same of the cells that each of them falls into: as even as can be; of some nothing may be left. */
const halvedCells = (starts, halvings, column, steps) => {
  const parts = 2 ** halvings;
  const found = starts.slice(0, -1).flatMap((first, cell) => {
    const last = starts[cell + 1];
    const even = (part) => first + Math.ceil((part * (last - first)) / parts);
    if (!column.finest) return Array.from({ length: parts }, (_, part) => even(part));
    const [low, high] = [first, last].map((one) => column.placed(steps.low + steps.step * one));
    let most = first;
    return Array.from({ length: parts }, (_, part) => (most = Math.max(most, clipped(firstValue(column, steps, low + (high - low) * (part / parts)), first, last))));
  });
  return [...found, starts[starts.length - 1]];
};

/** An axis of numbers, cut into cells. */
const numberAxis = (column, name, bins, often, byValues) => {
  const steps = byValues ? stepsOf(column) : null;
  const starts = steps ? cutValues(column, steps, bins) : null;
  const widest = starts ? Math.max(...starts.slice(1).map((one, i) => one - starts[i])) : Infinity;
  const halvings = starts ? Math.min(often, Math.ceil(Math.log2(widest))) : often;
  const valued = starts ? starts.length - 1 : bins;
  const even = (cells) => {
    const [low, high] = column.bounds(1);
    const inner = filled(cells + 1, (i) => (column.finest ? column.natural(low + (high - low) * (i / cells)) : low + (high - low) * (i / cells)));
    [inner[0], inner[cells]] = [column.low, column.high];
    return inner;
  };
  const own = (values) => Float64Array.from(values, (value) => steps.low + steps.step * value);
  const [edges, fineEdges] = starts ? [own(starts), own(halvedCells(starts, halvings, column, steps))] : [even(valued), even(valued << halvings)];
  return { name, valued, cells: valued + Number(Boolean(column.missing_category)), halvings, edges, fineEdges, gap: steps?.step ?? 0, dated: column.kind === "date", categories: [], low: column.low, high: column.high };
};

/**
 * The axes of a domain, in the order of its coordinates.
 * @param {readonly Column[]} columns
 * @param {{bins: number[], halvings: number[], edges?: string}} parameters
 * @returns {TableAxis[]}
 */
export const axesOf = (columns, { bins, halvings, edges = "even" }) => {
  let next = 0;
  const found = columns.flatMap((column) => {
    if (column.categories) {
      const count = column.categories.length;
      const places = filled(count + 1, (i) => i);
      return [{ name: column.name, cells: count, valued: count, halvings: 0, edges: places, fineEdges: places, gap: 0, dated: false, categories: column.categories, low: 0, high: count }];
    }
    return Array.from({ length: column.width }, (_, k) =>
      numberAxis(column, column.width === 1 ? column.name : `${column.name}[${k}]`, bins[next], halvings[next++], edges === "values"));
  });
  if (found.some(({ cells, halvings: often }) => !(cells >= 1 && cells * 2 ** often <= MOST_AXIS_CELLS))) throw new ReaderError("The file states cells that no release has.");
  return found;
};
