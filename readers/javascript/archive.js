// Release files as bytes: a zip archive of NumPy arrays, which a stranger may have made.
import { filled } from "./arrays.js";

/** What is wrong with a file or a question, in one sentence that holds nothing of the data. */
export class ReaderError extends Error {}

const MOST_BYTES = 1 << 30, MOST_NAMES = 200, MOST_MANIFEST = 8_000_000;
const DAMAGED = "The file is not a release, or it is damaged.";
const KINDS = { "|i1": Int8Array, "<i2": Int16Array, "<i4": Int32Array, "<i8": BigInt64Array, "<U": Uint32Array };

export const inflated = async (bytes, kind, most = MOST_BYTES) => {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(kind)).getReader();
  const parts = [];
  let size = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > most) throw new ReaderError("The file unpacks to more than a page can hold.");
    parts.push(next.value);
  }
  const whole = new Uint8Array(size);
  parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
  return whole;
};

/** Where each array of an archive lies, by its name. */
const directory = (view) => {
  let end = view.byteLength - 22;
  while (end >= 0 && end > view.byteLength - 66000 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw new ReaderError(DAMAGED);
  const [count, start] = [view.getUint16(end + 10, true), view.getUint32(end + 16, true)];
  if (count > MOST_NAMES || start === 0xffffffff) throw new ReaderError("The file is too large for a page: open it with Frostglass.");
  const members = new Map();
  for (let left = count, at = start; left > 0; left--) {
    if (view.getUint32(at, true) !== 0x02014b50) throw new ReaderError(DAMAGED);
    const [nameLength, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + at + 46, nameLength));
    const [packed, size, header] = [20, 24, 42].map((place) => view.getUint32(at + place, true));
    if (size > MOST_BYTES || !name.endsWith(".npy")) throw new ReaderError(DAMAGED);
    members.set(name.slice(0, -4), { method: view.getUint16(at + 10, true), packed, size, header });
    at += 46 + nameLength + extra + comment;
  }
  return members;
};

const content = async (view, { method, packed, size, header }) => {
  if (view.getUint32(header, true) !== 0x04034b50) throw new ReaderError(DAMAGED);
  const from = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true);
  if (from + packed > view.byteLength) throw new ReaderError(DAMAGED);
  const bytes = new Uint8Array(view.buffer, view.byteOffset + from, packed);
  return method === 8 ? inflated(bytes, "deflate-raw", size) : bytes.slice();
};

/** An array of NumPy: its shape and its entries, flat; a text as one string. */
const parsed = (bytes) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const long = bytes[6] > 1;
  const length = long ? view.getUint32(8, true) : view.getUint16(8, true);
  const start = (long ? 12 : 10) + length;
  const header = new TextDecoder().decode(bytes.subarray(long ? 12 : 10, start));
  const [, descr] = /'descr': '([<|][a-zA-Z])/.exec(header) ?? [];
  const [, kind] = /'descr': '([^']+)'/.exec(header) ?? [];
  const [, sides] = /'shape': \(([\d, ]*)\)/.exec(header) ?? [];
  const made = KINDS[descr === "<U" ? "<U" : kind];
  if (!made || sides === undefined || /'fortran_order': True/.test(header)) throw new ReaderError(DAMAGED);
  const shape = sides.split(",").filter((side) => side.trim()).map(Number);
  const entries = new made(bytes.slice(start).buffer);
  if (descr === "<U") return Array.from(entries, (code) => (code && code < 0x110000 ? String.fromCodePoint(code) : "")).join("");
  const size = shape.reduce((a, b) => a * b, 1);
  if (entries.length !== size) throw new ReaderError(DAMAGED);
  const numbers = entries instanceof BigInt64Array ? filled(entries.length, (i) => Number(entries[i])) : entries;
  return { shape, numbers };
};

/**
 * The manifest and the arrays of a release file; whole numbers up to 2^53 are exact.
 * @param {Uint8Array} bytes
 */
export const readArchive = async (bytes) => {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const members = directory(view);
    if (!members.has("manifest") || members.get("manifest").size > 4 * MOST_MANIFEST + 256) throw new ReaderError(DAMAGED);
    const text = String(parsed(await content(view, members.get("manifest"))));
    const manifest = JSON.parse(text, (key, value) => (key === "__proto__" ? undefined : value));
    /** @type {Record<string, any>} */
    const arrays = {};
    for (const [name, member] of members) {
      if (name !== "manifest") arrays[name] = parsed(await content(view, member));
    }
    // What the narrow type of a large table cannot hold stands apart.
    if (arrays.beyond_at && arrays.beyond && arrays.table) {
      const table = new Float64Array(arrays.table.numbers);
      arrays.beyond_at.numbers.forEach((place, i) => { table[place] = arrays.beyond.numbers[i]; });
      arrays.table.numbers = table;
    }
    return { manifest, arrays };
  } catch (problem) {
    throw problem instanceof ReaderError ? problem : new ReaderError(DAMAGED);
  }
};
