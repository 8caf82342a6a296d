// Bytes: what travels packed in the page, and arrays of a NumPy archive.

const fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

const inflated = async (bytes, kind) => {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(kind));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

/** The numbers of a picture: estimates, and both ends of their intervals where they are known. */
const unpacked = ({ shape, numbers }) => {
  const all = new Float32Array(fromBase64(numbers).buffer);
  const size = shape.reduce((a, b) => a * b, 1);
  const [est, low, high] = [0, 1, 2].map((place) => all.subarray(place * size, (place + 1) * size));
  return { shape, est, low: low.length ? low : null, high: high.length ? high : null };
};

/** One array of an archive (.npz) as numbers, flat; whole numbers up to 2^53 are exact. */
const arrayOf = async (archive, name) => {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = archive.byteLength - 22;
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const [nameLength, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const member = new TextDecoder().decode(archive.subarray(at + 46, at + 46 + nameLength));
    if (member === `${name}.npy`) return numbersOf(await content(archive, view, at));
    at += 46 + nameLength + extra + comment;
  }
  throw new Error("The file that this page carries is damaged.");
};

/** What a member of an archive holds, from its entry in the directory. */
const content = (archive, view, at) => {
  const start = view.getUint32(at + 42, true);
  const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  const bytes = archive.subarray(from, from + view.getUint32(at + 20, true));
  return view.getUint16(at + 10, true) ? inflated(bytes, "deflate-raw") : bytes.slice();
};

/** The entries of a NumPy array of whole numbers. */
const numbersOf = (bytes) => {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint16(8, true);
  const header = new TextDecoder().decode(bytes.subarray(10, 10 + length));
  const kinds = { "|i1": Int8Array, "<i2": Int16Array, "<i4": Int32Array, "<i8": BigInt64Array };
  const kind = kinds[/'descr': '([^']+)'/.exec(header)[1]];
  return Float64Array.from(new kind(bytes.slice(10 + length).buffer), Number);
};
