// Models: their coefficients with intervals, and a form that predicts.
import { element } from "./canvas.js";
import { percent, rounded, roundedRange, significant, titleOf } from "./numbers.js";
import { drawing, rectangle, tenth } from "./pictures.js";
import { dot } from "../../../readers/javascript/arrays.js";

const expit = (score) => 1 / (1 + Math.exp(-score));

/** Bars to either side of zero, with intervals where they are known, as a table that is read without seeing it too. */
const coefficientTable = (rows, name, most = 60) => {
  const sorted = [...rows].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, most);
  const furthest = Math.max(1e-300, ...sorted.flatMap(([, ...numbers]) => numbers.map((one) => Math.abs(one ?? 0))));
  const known = sorted.some(([, , low]) => low !== null);
  const heads = ["Column", element("span", { class: "unseen" }, "As a bar"), "Estimate", ...(known ? ["Very likely between"] : [])];
  const table = element("table", { class: "bars" }, element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))));
  const body = element("tbody");
  for (const [column, estimate, low, high] of sorted) {
    const error = low === null ? Infinity : (high - low) / 3.92;
    const cells = [element("th", { scope: "row" }, column), element("td", { class: "stroke" }, stroke(estimate / furthest, low === null ? null : [low / furthest, high / furthest])),
      element("td", {}, Number.isFinite(error) ? rounded(estimate, error) : significant(estimate, 3))];
    if (known) cells.push(element("td", {}, roundedRange(low, high, error).join(" to ")));
    body.append(element("tr", {}, ...cells));
  }
  table.append(body);
  const region = element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": `Coefficients of ${name}` }, table);
  if (rows.length > most) region.append(element("p", { class: "note" }, `The ${most} largest of ${rows.length}.`));
  return region;
};

/** One bar from the middle, with the interval as a line: shares of the longest, between -1 and 1. */
const stroke = (share, ends) => {
  const at = (value) => 160 + 154 * value;
  return drawing("svg", { viewBox: "0 0 320 32", "aria-hidden": "true" }, drawing("path", { class: "solid", d: rectangle(Math.min(160, at(share)), 9, Math.abs(at(share) - 160), 14) }),
    drawing("path", { class: "base", d: "M160 0v32" }), ...(ends ? [drawing("path", { class: "whisker", d: `M${tenth(at(ends[0]))} 16H${tenth(at(ends[1]))}` })] : []));
};

/** Fields for one record; calls `changed` with its values by column. */
const recordForm = (fields, changed) => {
  const form = element("form", { class: "fields", onsubmit: (event) => event.preventDefault() });
  const values = {};
  fields.forEach((field, place) => {
    const id = `record-${place}`;
    let input;
    if (field.kind === "category") {
      input = element("select", { id }, ...field.categories.map((one, i) => element("option", { value: i }, one)));
      values[field.name] = 0;
    } else {
      const middle = (field.low + field.high) / 2;
      input = element("input", { id, type: "number", min: field.low, max: field.high, step: "any", value: Number(middle.toPrecision(6)) });
      values[field.name] = middle;
    }
    input.addEventListener("input", () => {
      const value = Number(input.value);
      if (input.value === "" || !Number.isFinite(value)) return;
      values[field.name] = value;
      changed(values);
    });
    form.append(element("div", {}, element("label", { for: id }, titleOf({ ...field, unit: field.unit ?? "" })), input));
  });
  queueMicrotask(() => changed(values));
  return form;
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

/** What a record has of a term, in its column's own unit: 1 or 0 of a category, and of a knot the share it is near. */
const termValue = (fields, values, column, category, knot = {}) => {
  const field = fields.find((one) => one.name === column);
  if (knot.step) {
    const number = field.kind === "category" ? field.places[values[column]] : Math.min(Math.max(values[column], field.low), field.high);
    return Math.max(0, 1 - Math.abs(number - knot.place) / knot.step);
  }
  if (category !== "") return Number(field.categories[values[column]] === category);
  if (field.kind === "category") return field.places[values[column]];
  return Math.min(Math.max(values[column], field.low), field.high);
};

/** What waves of all columns together add to each score: cosines and sines at public frequencies. */
const wavesOf = (waves, fields, values) => {
  const places = waves.terms.map((term) => Math.min(1, Math.max(-1, (termValue(fields, values, term.column, term.category) - term.middle) / term.half)));
  const angles = waves.speeds.map((speeds) => 2 * Math.PI * dot(speeds, places));
  const heights = [...angles.map(Math.cos), ...angles.map(Math.sin)];
  return waves.weights.map((row) => dot(row, heights));
};

/** Probabilities of the classes that a linear model gives a record. */
export const probabilities = (model, values) => {
  let coordinates = model.terms.map((term) =>
    Math.min(1, Math.max(-1, (termValue(model.fields, values, term.column, term.category, term) - term.middle) / term.half)));
  const length = Math.hypot(...coordinates);
  const factor = model.radius === null ? 1 : Math.min(1, model.radius / Math.max(length, 1e-300));
  coordinates = [1, ...coordinates.map((one) => one * factor)];
  const together = model.waves ? wavesOf(model.waves, model.fields, values) : [];
  const scores = model.rows.map((row, place) => dot(row, coordinates) + (together[place] ?? 0));
  if (scores.length === 1) return [expit(-scores[0]), expit(scores[0])];
  const logs = model.link === "multinomial" ? scores : scores.map((score) => Math.log(Math.max(expit(score), 2.2250738585072014e-308)));
  const most = Math.max(...logs);
  const odds = logs.map((one) => Math.exp(one - most));
  return odds.map((one) => one / odds.reduce((a, b) => a + b, 0));
};

/** What a regression predicts of a record, inside the bounds of what is predicted. */
export const predicted = (target, fields, values) => {
  const moved = target.terms.reduce((sum, [column, category], place) =>
    sum + target.moves[place] * termValue(fields, values, column, category, target.knots?.[place]), target.intercept + (target.waves ? wavesOf(target.waves, fields, values)[0] : 0));
  return Math.min(Math.max(target.link === "count" ? Math.exp(moved) : moved, target.low), target.high);
};

export const modelView = (model) => {
  const said = element("p", { class: "odds", role: "status" });
  const parts = [];
  if (model.fields.length) {
    const bars = element("dl", { class: "classes" });
    const form = recordForm(model.fields, (values) => {
      const found = probabilities(model, values);
      const best = found.indexOf(Math.max(...found));
      said.replaceChildren("Most likely ", element("strong", {}, model.categories[best]), `, with a probability of ${percent(found[best])}.`);
      bars.replaceChildren(...found.map((share, i) => element("div", {}, element("dt", {}, model.categories[i]), element("dd", {}, percent(share)))));
    });
    parts.push(element("h2", {}, "For one record"), form, said, bars,
      element("p", { class: "note" }, "It says how records like these tend to be, and must not alone decide about a person."));
  }
  for (const { name, rows, curves } of model.coefficients) {
    parts.push(element("h2", {}, `What carries ${name}`));
    if (curves.length) parts.push(...curvePictures(curves, "the score"));
    if (rows.length) parts.push(coefficientTable(rows, name));
  }
  parts.push(element("p", { class: "note" }, model.banded
    ? "How far a column moves the score over its range, and where the same training of these records only would have it without noise, with about 95%."
    : "How far a column moves the score over its range. Small ones may be noise."));
  return parts;
};

export const regressionsView = (facts) => {
  const view = element("div");
  const choice = element("select", { id: "target" }, ...facts.targets.map(({ name }, i) => element("option", { value: i }, name)));
  const show = () => {
    const target = facts.targets[Number(choice.value)];
    const parts = [];
    if (target.explained !== null) {
      parts.push(element("p", {}, `The others explain ${percent(target.explained)} of how it varies; a record is about ${significant(target.deviation, 2)} away from what is predicted.`));
    } else if (target.deviation !== null) {
      parts.push(element("p", {}, `A record is about ${significant(target.deviation, 2)} away from what is predicted${
        target.mean_off ? `, where always guessing the mean would be ${significant(target.mean_off, 2)} off` : ""}.`));
    }
    const fields = facts.fields.filter(({ name }) => target.terms.some(([column]) => column === name));
    if (fields.length) {
      const said = element("p", { class: "odds", role: "status" });
      parts.push(recordForm(fields, (values) => {
        said.replaceChildren("Predicted: ", element("strong", {}, significant(predicted(target, fields, values), 3)), ".");
      }), said);
    }
    if (target.curves?.length) parts.push(element("h2", {}, "Curves"), ...curvePictures(target.curves, target.link === "count" ? "the logarithm of what is expected" : "what is predicted"));
    if (target.rows.length) parts.push(element("h2", {}, "Coefficients"), coefficientTable(target.rows, target.name));
    view.replaceChildren(...parts,
      element("p", { class: "note" }, target.link === "count"
        ? "Each is for one of the column's own unit, and of a logarithm: 0.1 makes what is predicted a tenth larger."
        : "Each is for one of the column's own unit, with the interval that the noise leaves; it holds for these records only."));
  };
  choice.addEventListener("change", show);
  show();
  return [element("div", { class: "fields" }, element("div", {}, element("label", { for: "target" }, "Predict"), choice)), view];
};
