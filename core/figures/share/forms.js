// Models: their coefficients with intervals, and a form that predicts.
import { element, plainTable, selectOf } from "./canvas.js";
import { dateWords, percent, rounded, roundedRange, significant, titleOf } from "./numbers.js";
import { drawing, rectangle, tenth } from "./pictures.js";
import { dot } from "../../../readers/javascript/arrays.js";
import { Between } from "../../../readers/javascript/models.js";

/**
 * Bars to either side of zero, with intervals where they are known, as a table that is read without seeing it too. Bars
 * are as long as what a column makes over its `spans`, so that columns of different units are beside each other fairly.
 */
const coefficientTable = (rows, name, spans = {}, most = 60) => {
  const spanOf = (column) => (Object.hasOwn(spans, column) ? spans[column] : 1);
  const sorted = [...rows].sort((a, b) => Math.abs(b[1]) * spanOf(b[0]) - Math.abs(a[1]) * spanOf(a[0])).slice(0, most);
  const furthest = Math.max(1e-300, ...sorted.flatMap(([column, ...numbers]) => numbers.map((one) => Math.abs(one ?? 0) * spanOf(column))));
  const known = sorted.some(([, , low]) => low !== null);
  const heads = ["Column", element("span", { class: "unseen" }, "As a bar"), "Estimate", ...(known ? ["Very likely between"] : [])];
  const region = plainTable(`Coefficients of ${name}`, heads, sorted.map(([column, estimate, low, high]) => {
    const error = low === null ? Infinity : (high - low) / 3.92;
    const [at, from, to] = [estimate, low, high].map((one) => (one * spanOf(column)) / furthest);
    return [column, stroke(at, low === null ? null : [from, to]),
      Number.isFinite(error) ? rounded(estimate, error) : significant(estimate, 3), ...(known ? [roundedRange(low, high, error).join(" to ")] : [])];
  }));
  if (rows.length > most) region.append(element("p", { class: "note" }, `The ${most} largest of ${rows.length}.`));
  return region;
};

/** One bar from the middle, with the interval as a line: shares of the longest, between -1 and 1. */
const stroke = (share, ends) => {
  const at = (value) => 160 + 154 * value;
  return drawing("svg", { viewBox: "0 0 320 32", class: "stroke", "aria-hidden": "true" }, drawing("path", { class: "solid", d: rectangle(Math.min(160, at(share)), 9, Math.abs(at(share) - 160), 14) }),
    drawing("path", { class: "base", d: "M160 0v32" }), ...(ends ? [drawing("path", { class: "whisker", d: `M${tenth(at(ends[0]))} 16H${tenth(at(ends[1]))}` })] : []));
};

/** A date of a column as fields have it. */
const isoDate = (column, steps) => dateWords({ origin: column.start, step: column.seconds }, steps).replace(" ", "T");

/** Where one value of a column is chosen or typed, and what stands in it. */
const fieldOf = (column, attributes) => {
  const [low, high] = [column.low, column.high];
  if (column.categories) return element("select", attributes, ...column.categories.map((one) => element("option", {}, one)));
  if (column.kind === "date") {
    const [min, max, value] = [low, high, (low + high) / 2].map((one) => isoDate(column, one));
    return element("input", { ...attributes, type: value.length > 10 ? "datetime-local" : "date", min, max, value });
  }
  const middle = column.spacing ? low + column.spacing * Math.floor((high - low) / column.spacing / 2) : (low + high) / 2;
  return element("input", { ...attributes, type: "number", min: low, max: high, step: "any", value: Number(middle.toPrecision(6)) });
};

/** Fields for one record; calls `changed` with its values by column. */
const recordForm = (columns, changed) => {
  const values = {};
  const fields = columns.map((column, place) => {
    const input = fieldOf(column, { id: `record-${place}` });
    const take = () => (input.value !== "" && input.validity.badInput !== true && (values[column.name] = input.value));
    input.addEventListener("input", () => take() && changed(values));
    take();
    return element("div", {}, element("label", { for: input.id }, titleOf({ ...column, unit: column.unit ?? "" })), input);
  });
  queueMicrotask(() => changed(values));
  return element("form", { class: "fields", onsubmit: (event) => event.preventDefault() }, ...fields);
};

/** Curves on one scale, side by side, with their bands where they are known; what is drawn is said as a text too. */
const curvePictures = (curves, moved) => {
  const ends = curves.flatMap(({ values, reach }) => values.flatMap((one, i) => [one - (reach?.[i] ?? 0), one + (reach?.[i] ?? 0)]));
  const [least, most] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const pictures = curves.map((curve) => {
    const { name, texts, values, reach } = curve;
    const [low, high] = [values.indexOf(Math.min(...values)), values.indexOf(Math.max(...values))];
    const said = `${name}: from ${significant(values[low], 3)} at ${texts[low]} to ${significant(values[high], 3)} at ${texts[high]}`;
    const y = (value) => tenth(234 - (228 * (value - least)) / Math.max(most - least, 1e-300));
    const line = (heights) => heights.map((one, i) => `${tenth(6 + (468 * i) / (values.length - 1))} ${y(one)}`);
    const band = reach ? [...line(values.map((one, i) => one + reach[i])), ...line(values.map((one, i) => one - reach[i])).reverse()] : [];
    const picture = drawing("svg", { viewBox: "0 0 480 240", role: "img", "aria-label": said }, drawing("path", { class: "base", d: `M6 ${y(0)}h468` }),
      ...(reach ? [drawing("path", { class: "fade f4", d: `M${band.join("L")}z` })] : []), drawing("path", { class: "course", d: `M${line(values).join("L")}` }));
    return element("figure", { class: "curve" }, element("figcaption", {}, name), picture,
      element("div", { class: "curve-ends note" }, element("span", {}, texts[0]), element("span", {}, texts[texts.length - 1])));
  });
  return [element("div", { class: "curves" }, ...pictures),
    element("p", { class: "note" }, `What each column adds to ${moved}, told from its middle: all between ${significant(least, 3)} and ${significant(most, 3)}.`
      + (curves.some(({ reach }) => reach) ? " Bands hold, with about 95%, what there would be without noise, for these records only." : ""))];
};

/** What is predicted of a column, as it is read. */
const valueOf = (column, value) => (column.kind === "date" ? isoDate(column, value).replace("T", " ") : significant(value, 3));

/** What sums of products predict of a record, inside the bounds of what is predicted. */
export const byRegression = (weights, between, { low, high }, values) => {
  const [z] = between.of(values);
  return (low + high) / 2 + ((high - low) / 2) * Math.min(1, Math.max(-1, dot(weights, [1, ...z])));
};

/** Whether a form can ask for every column. */
const hasFields = ({ columns }, ...without) => !columns.some(({ kind }) => kind === "vector" || without.includes(kind));

/** How far it is from the lowest to the highest value of each column of numbers. */
const spansOf = ({ columns }) => Object.fromEntries(columns.filter((one) => !one.categories && !one.finest && one.high > one.low).map(({ name, low, high }) => [name, high - low]));

/** Of a trained model what carries each class (`facts`), and a form that it answers. */
export const modelView = (facts, model) => {
  const said = element("p", { class: "odds", role: "status" });
  const parts = [];
  if (hasFields(model.domain)) {
    const bars = element("dl", { class: "classes" });
    const form = recordForm(model.domain.columns, (values) => {
      const [found] = model.probabilities(values);
      const best = found.indexOf(Math.max(...found));
      said.replaceChildren("Most likely ", element("strong", {}, model.categories[best]), `, with a probability of ${percent(found[best])}.`);
      bars.replaceChildren(...found.map((share, i) => element("div", {}, element("dt", {}, model.categories[i]), element("dd", {}, percent(share)))));
    });
    parts.push(element("h2", {}, "For one record"), form, said, bars,
      element("p", { class: "note" }, "It says how records like these tend to be, and must not alone decide about a person."));
  }
  for (const { name, rows, curves } of facts.coefficients) {
    parts.push(element("h2", {}, `What carries ${name}`));
    if (curves.length) parts.push(...curvePictures(curves, "the score"));
    if (rows.length) parts.push(coefficientTable(rows, name));
  }
  parts.push(element("p", { class: "note" }, facts.banded
    ? "How far a column moves the score over its range, and where the same training of these records only would have it without noise, with about 95%."
    : "How far a column moves the score over its range. Small ones may be noise."));
  return parts;
};

/** Numbers predicted from all other columns: by a trained model, or by released sums of products (`asked` is either). */
export const regressionsView = ({ targets }, asked) => {
  const view = element("div");
  const show = (at) => {
    const { name, link, explained, deviation, mean_off: meanOff, weights, rows, curves = [] } = targets[at];
    const parts = [];
    if (explained !== null) {
      parts.push(element("p", {}, `The others explain ${percent(explained)} of how it varies; a record is about ${significant(deviation, 2)} away from what is predicted.`));
    } else if (deviation !== null) {
      parts.push(element("p", {}, `A record is about ${significant(deviation, 2)} away from what is predicted${
        meanOff ? `, where always guessing the mean would be ${significant(meanOff, 2)} off` : ""}.`));
    }
    const within = weights ? asked.domain.without(name) : asked.domain;
    if (hasFields(within, ...(weights ? ["cyclic"] : []))) {
      const said = element("p", { class: "odds", role: "status" });
      const goal = asked.target ?? asked.domain.columns.find((column) => column.name === name);
      const between = weights && new Between(within);
      parts.push(recordForm(within.columns, (values) => {
        const value = weights ? byRegression(weights, between, goal, values) : asked.predicted(values)[0].predicted;
        said.replaceChildren("Predicted: ", element("strong", {}, valueOf(goal, value)), ".");
      }), said);
    }
    if (curves.length) parts.push(element("h2", {}, "Curves"), ...curvePictures(curves, link === "count" ? "the logarithm of what is expected" : "what is predicted"));
    if (rows.length) parts.push(element("h2", {}, "Coefficients"), coefficientTable(rows, name, spansOf(within)));
    if (rows.length) {
      const known = rows.some(([, , low]) => low !== null);
      parts.push(element("p", { class: "note" }, link === "count"
        ? "Each is for one of the column's own unit, and of a logarithm: 0.1 makes what is predicted a tenth larger."
        : `Each is for one of the column's own unit${known ? ", with the interval that the noise leaves; it holds for these records only" : ""}. Bars say what it makes from the column's lowest value to its highest.`));
    }
    view.replaceChildren(...parts);
  };
  show(0);
  return targets.length < 2 ? [view] : [element("div", { class: "fields" }, selectOf("Predict", targets.map(({ name }) => name), 0, show, "target")), view];
};
