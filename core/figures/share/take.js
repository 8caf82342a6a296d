// Taking things along: files that the page holds or makes, saved by the browser alone.
import { element } from "./canvas.js";
import { dateWords, nearest, ownDegrees } from "./numbers.js";
import { amountAt } from "../../../readers/javascript/columns.js";

export const save = (name, mime, content) => {
  const address = URL.createObjectURL(new Blob([content], { type: mime }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
};

/** A cell of a table that spreadsheets open and do not run. */
const safeCell = (value) => {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csvOf = (heads, rows) => `${[heads, ...rows].map((row) => row.map(safeCell).join(",")).join("\n")}\n`;

/** What a picture shows, place by place. */
export const tableOf = (decoder, x, y, shown) => {
  const own = (column, value) =>
    column.kind === "number" ? ownDegrees(column, value) : column.kind === "amount" ? amountAt(column, value) : column.kind === "date" ? dateWords(column, value) : column.categories[nearest(column, value)];
  const columns = [decoder.columns[x], ...(y === null ? [] : [decoder.columns[y]])];
  const along = (place, count) => {
    const [low, high] = shown.rect[place];
    return (i) => low + ((i + 0.5) * (high - low)) / count;
  };
  const across = y === null ? (i) => shown.values[i] : along(0, shown.shape[1]);
  const up = y === null ? null : along(1, shown.shape[0]);
  const width = shown.shape[shown.shape.length - 1];
  const rows = Array.from(shown.est, (value, i) => [
    own(columns[0], across(i % width)),
    ...(up ? [own(columns[1], up(Math.floor(i / width)))] : []),
    value, shown.low ? shown.low[i] : NaN, shown.high ? shown.high[i] : NaN]);
  return csvOf([...columns.map(({ name }) => name), "estimate", "low", "high"], rows);
};

export const takeAlong = (payload, file, table) => {
  const stem = payload.name.replace(/\.(npz|json)$/, "");
  const button = (label, act) => element("button", { type: "button", onclick: act }, label);
  const offers = [button(`The file itself (${payload.name})`, () => save(payload.name, payload.mime, file))];
  if (table) offers.push(button("What the picture shows (CSV)", () => save(`${stem}-picture.csv`, "text/csv", table())));
  for (const [label, ending, text] of payload.papers) {
    offers.push(button(label, () => save(`${stem}.${ending}`, "text/plain", text)));
  }
  document.querySelector("#take .buttons").append(...offers);
};
