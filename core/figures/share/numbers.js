// Numbers as people should read them: with the digits that their error supports, and no more.

const signed = (text) => text.replace("-", "\u2212");
const grouped = (value, digits) =>
  signed((value || 0).toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits }));

const digitsOf = (value, error, towards) => {
  if (Number.isNaN(value) || Number.isNaN(error)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "\u2212∞";
  if (!(error > 0)) return significant(value, 12);
  if (!Number.isFinite(error)) return "unknown";
  const exponent = Math.floor(Math.log10(error));
  const place = exponent + (10 ** (exponent + 1) <= error) - (10 ** exponent > error);
  const whole = towards(place < 0 ? value * 10 ** -place : value / 10 ** place);
  return place >= 0 ? grouped(whole * 10 ** place, 0) : grouped(whole / 10 ** -place, Math.min(20, -place));
};

/** A number in the digits that its standard error supports; two digits of one whose error nobody knows. */
const rounded = (value, error) =>
  Number.isFinite(error) ? digitsOf(value, error, Math.round) : significant(value, 2);

/** Both ends of an interval, rounded outwards. */
const roundedRange = (low, high, error) => [digitsOf(low, error, Math.floor), digitsOf(high, error, Math.ceil)];

/** A number in so many significant digits. */
const significant = (value, digits) => {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "unknown" : value > 0 ? "∞" : "\u2212∞";
  const cut = Number(value.toPrecision(digits));
  if (cut && (Math.abs(cut) < 1e-9 || Math.abs(cut) >= 1e15)) return signed(cut.toExponential(digits - 1));
  return signed((cut || 0).toLocaleString("en-GB", { maximumSignificantDigits: Math.max(1, digits) }));
};

const percent = (share) => `${significant(100 * share, 2)}%`;
const listed = (names) =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;

/** What is written at a place of a column: a category, a date, or a number to a five-hundredth of its range. */
const placeWords = (column, value) => {
  if (column.kind === "category") return column.categories[nearest(column, value)];
  if (column.kind === "date") return dateWords(column, value);
  if (column.kind === "amount") return amountWords(column, value);
  const text = digitsOf(value, (column.high - column.low) / 500, Math.round);
  return `${Math.abs(value) < 10000 ? text.replaceAll(",", "") : text} ${column.unit}`.trim();
};

/** The amount at a place on the scale of doublings, and the place of an amount: `Doublings` of the library. */
const amountAt = (column, place) => {
  const size = Math.min(Math.abs(place), 1000), whole = Math.floor(size), once = 1 + 11 / 32;
  const rest = (once - Math.sqrt(once * once - (11 / 8) * (size - whole))) / (11 / 16);
  return Math.sign(place) * (2 ** whole * (1 + rest) - 1) * column.finest;
};
const placeOfAmount = (column, amount) => {
  const times = 1 + Math.abs(amount) / column.finest;
  let whole = Math.floor(Math.log2(times));
  whole += (2 ** (whole + 1) <= times) - (2 ** whole > times);
  const rest = times / 2 ** whole - 1;
  return Math.sign(amount) * (whole + rest + (11 / 32) * rest * (1 - rest));
};
const amountWords = (column, place) => `${significant(amountAt(column, place), 3)} ${column.unit}`.trim();

const dateWords = (column, value) => {
  const text = new Date(1000 * (column.origin + column.step * Math.round(value))).toISOString();
  return column.step >= 86400 ? text.slice(0, 10) : text.slice(0, column.step >= 60 ? 16 : 19).replace("T", " ");
};

/** The number of steps at a date that somebody typed. */
const dateNumber = (column, text) => {
  const moment = Date.parse(`${text.trim().replace(" ", "T")}${/[T ]/.test(text.trim()) ? "Z" : ""}`);
  return (moment / 1000 - column.origin) / column.step;
};

const nearest = (column, value) => Math.min(column.categories.length - 1, Math.max(0, Math.round(value)));
const endsOf = (column) =>
  column.kind === "category" ? [-0.5, column.categories.length - 0.5] : [column.low, column.high];
const titleOf = (column) => (column.unit ? `${column.name} (${column.unit})` : column.name);

/** Round places between two ends for the marks of an axis, with what is written there. */
const marksOf = (column, [low, high], most) => {
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
  return roundMarks(low, high, most);
};

const roundMarks = (low, high, most) => {
  const rough = (high - low) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough * 0.999);
  const large = Math.max(Math.abs(low), Math.abs(high)) >= 10000;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const marks = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + 1e-9 * step; place++) {
    const text = grouped(place * step, Math.min(20, digits));
    marks.push([place * step, large ? text : text.replaceAll(",", "")]);
  }
  return marks;
};
