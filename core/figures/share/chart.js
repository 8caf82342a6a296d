// A picture: a map, a curve or bars on a canvas.
import { FONT, coloursNow, cutTo, element, hatching, imageOf, shade, textWidth, tinted } from "./canvas.js";
import { Lattice, hiddenByNoise } from "./lattice.js";
import { endsOf, marksOf, roundMarks, significant, titleOf } from "./numbers.js";

const ROUGH = 16, SEEN_FIRST = 400; // Places along a side of a picture that is drawn again; milliseconds before a page does so.
const BLACK = [0, 0, 0];
/** Places along the sides of a map. */
export const MOST_PLACES = [180, 150];
const PAD = { left: 62, right: 14, top: 26, bottom: 46 };

export class Chart {
  decoder; held; x; y;

  /** `signal` ends its listening to the window, which would keep it for good. */
  constructor(canvas, signal = undefined) {
    this.canvas = canvas;
    this.point = this.box = null;
    for (const event of ["resize", "beforeprint", "afterprint"]) addEventListener(event, () => this.draw(), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(), { signal });
  }

  /** Show other columns of a decoder; the view begins with all of them. */
  show(decoder, x, y, held) {
    this.prepare(decoder, x, y, held);
    this.draw();
  }

  /** The same before it is painted, for who asks on it first; whether there is anything to be painted. */
  prepare(decoder, x, y, held) {
    const moved = decoder !== this.decoder || x !== this.x || y !== this.y;
    Object.assign(this, { decoder, x, y, held });
    if (moved) {
      this.home();
      this.point = this.box = null;
    }
    return this.lay();
  }

  home() {
    this.window = this.sides((side) => endsOf(this.column(side)));
  }

  /** What there is across and, of a map, up. */
  sides(made) {
    return { x: made("x"), y: this.isMap ? made("y") : null };
  }

  column(side) {
    return side === "x" ? this.across : this.up;
  }

  get lowest() {
    return 260;
  }

  /** Whether a difference of two files is drawn, which may be below zero. */
  get differs() {
    return this.decoder.answers === "difference";
  }

  get isMap() {
    return this.y !== null;
  }

  get across() {
    return this.decoder.columns[this.x];
  }

  get up() {
    return this.isMap ? this.decoder.columns[this.y] : null;
  }

  /** The rectangle of the picture in pixels; of the same unit either way where both columns have one. */
  laidOut() {
    const width = this.canvas.parentElement.clientWidth;
    const narrow = width < 480;
    const words = this.up && this.up.kind !== "number" ? marksOf(this.up, this.window.y, 8).map(([, words]) => textWidth(words)) : [];
    const left = Math.min(Math.max(narrow ? 48 : PAD.left, 16 + Math.max(0, ...words)), 0.3 * width);
    const plot = width - left - PAD.right;
    let height = Math.min(Math.max(this.lowest, plot * (narrow ? 0.95 : 0.62)), Math.max(280, 0.6 * innerHeight));
    const ratio = this.equalRatio();
    let wide = plot;
    if (ratio !== null) {
      const most = Math.max(280, 0.64 * innerHeight);
      height = Math.min(plot * ratio, most);
      wide = height / ratio;
    }
    return { left, top: PAD.top, width: wide, height, whole: width, all: height + PAD.top + PAD.bottom };
  }

  equalRatio() {
    const [one, other] = [this.across, this.up];
    if (!other || !one.measure || one.measure !== other.measure || !(one.length > 0)) return null;
    const ratio = other.length / one.length;
    return ratio >= 0.25 && ratio <= 4 ? ratio : null;
  }

  toPixels(value, side) {
    const { left, top, width, height } = this.plot;
    const [low, high] = side === "x" ? this.window.x : this.isMap ? this.window.y : this.values;
    const share = (value - low) / (high - low);
    return side === "x" ? left + share * width : top + (1 - share) * height;
  }

  toPlace(pixel, side) {
    const { left, top, width, height } = this.plot;
    const [low, high] = side === "x" ? this.window.x : this.window.y;
    const share = side === "x" ? (pixel - left) / width : 1 - (pixel - top) / height;
    return low + Math.min(Math.max(share, 0), 1) * (high - low);
  }

  /** Lays out the picture and has its answers; not of what is folded away, which is drawn when it is seen. */
  lay() {
    if (!this.decoder || !this.canvas.parentElement?.clientWidth) return false;
    this.plot = this.laidOut();
    const places = [this.plot.width, this.plot.height].map((pixels, side) => Math.min(MOST_PLACES[side], Math.ceil(pixels / 4)));
    if (!this.isMap) places[0] = Math.min(400, Math.ceil(this.plot.width));
    const key = JSON.stringify([this.window, places, this.held, this.decoder.nearest, this.decoder.chosen, this.x, this.y, this.decoder.name]);
    if (key !== this.drawnFor) this.obtain(key, places);
    return true;
  }

  draw() {
    if (!this.lay()) return;
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.plot.whole * scale);
    this.canvas.height = Math.round(this.plot.all * scale);
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.colours = coloursNow(this.canvas.parentElement);
    this.paint(pen, scale);
  }

  /** What is drawn: what a page brings along, or of what takes long a rough picture, first, and the fine one when it is there. */
  obtain(key, places) {
    this.drawnFor = key;
    const asked = (sides) => /** @type {const} */ ([this.x, this.y, this.window, sides, this.held]);
    const brought = this.isMap ? this.decoder.brought?.(this.x, this.y, this.window, this.held) : null;
    const long = brought ? this.decoder.isFiner(places, brought, this.held) : this.isMap && this.decoder.takesLong;
    this.keep(brought ?? this.decoder.picture(...asked(long ? [ROUGH, ROUGH] : places)));
    if (!long) return;
    const isWaitedFor = () => this.drawnFor === key && this.canvas.isConnected;
    setTimeout(async () => {
      const shown = await this.decoder.inStrips(...asked(places), isWaitedFor);
      if (!shown) return;
      this.keep(shown);
      this.draw();
      this.canvas.dispatchEvent(new CustomEvent("finer"));
    }, brought ? SEEN_FIRST : 0);
  }

  keep(shown) {
    this.shown = shown;
    const categories = [this.across, this.up].some((column) => column?.kind === "category");
    const { answers, together = 4, noise } = this.decoder;
    this.hidden = shown.low === null || ["distance", "difference"].includes(answers) ? null : hiddenByNoise(shown, together, noise, categories);
  }

  paint(pen, scale) {
    const [least, most] = extremes(this.shown.est);
    const far = Math.max(-least, most);
    this.range = this.differs ? [-far, far] : this.decoder.answers === "distance" && this.isMap ? [least, most] : [0, most];
    pen.save();
    pen.beginPath();
    pen.rect(this.plot.left, this.plot.top, this.plot.width, this.plot.height);
    if (this.isMap) {
      pen.clip();
      this.drawMap(pen, scale);
      this.drawOutline(pen);
    } else this.drawAlong(pen);
    pen.restore();
    this.drawAxes(pen);
    this.drawMarks(pen);
    this.drawAsked(pen);
    this.canvas.dispatchEvent(new CustomEvent("drawn"));
  }

  drawMap(pen, scale) {
    const { est, low, high, shape, rect } = this.shown;
    const [least, most] = this.range;
    const turned = this.decoder.answers === "distance";
    const shareOf = (value) => (most > least ? (value - least) / (most - least) : 0);
    const { shades, differing, paper } = this.colours;
    if (this.shown.painted !== paper) { // in this theme; while somebody drags only what lies on it changes
      const tint = tinted(this.differs ? differing : shades);
      this.shown.painted = paper;
      this.shown.image = imageOf(shape[1], shape[0], this.shown.colourOf ?? ((i) => tint(turned ? 1 - shareOf(est[i]) : shareOf(est[i]))));
      this.shown.mask = turned || low === null ? null : imageOf(shape[1], shape[0], (i) => ((this.differs ? low[i] <= 0 && high[i] >= 0 : this.hides(i)) ? BLACK : null));
    }
    const [x, right] = rect[0].map((end) => this.toPixels(end, "x"));
    const [bottom, y] = rect[1].map((end) => this.toPixels(end, "y"));
    // In a layer of its own, as paper gets what is drawn right on a canvas as squares that nothing smooths.
    const layered = (image, smooth, hatch = null) => {
      const layer = new OffscreenCanvas(this.canvas.width, this.canvas.height);
      const own = layer.getContext("2d");
      own.imageSmoothingEnabled = smooth;
      own.setTransform(scale, 0, 0, scale, 0, 0);
      own.drawImage(image, x, y, right - x, bottom - y);
      own.setTransform(1, 0, 0, 1, 0, 0);
      if (hatch) {
        own.globalCompositeOperation = "source-in";
        own.fillStyle = hatching(own, hatch, scale);
        own.fillRect(0, 0, layer.width, layer.height);
      }
      pen.save();
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.drawImage(layer, 0, 0);
      pen.restore();
    };
    layered(this.shown.image, this.decoder.exact && this.across.kind !== "category" && this.up.kind !== "category");
    // Where the interval reaches zero nobody knows whether there is anyone, or a difference.
    if (!turned && low?.some((value) => value <= 0)) layered(this.shown.mask, false, this.colours.hatch);
  }

  /** Coasts and borders, or other lines in degrees, where a longitude and a latitude are drawn. */
  drawOutline(pen) {
    const { columns = [], lines = [] } = this.decoder.outline ?? {};
    if (![this.x, this.y].every((place) => columns.includes(place))) return;
    const [x, y] = columns[0] === this.x ? [0, 1] : [1, 0];
    pen.strokeStyle = this.colours.faint;
    pen.lineWidth = 0.8;
    pen.beginPath();
    for (const line of lines) line.forEach((at, i) => pen[i ? "lineTo" : "moveTo"](this.toPixels(at[x], "x"), this.toPixels(at[y], "y")));
    pen.stroke();
  }

  /** Numbered places, such as modes; those that could be noise are faint. */
  drawMarks(pen) {
    const { est, values } = this.shown;
    (this.decoder.marks ?? []).forEach(([across, up, sure], i) => {
      const along = (at) => values.reduce((best, one, k) => (Math.abs(one - at) < Math.abs(values[best] - at) ? k : best), 0);
      const [x, y] = [this.toPixels(across, "x"), this.toPixels(this.isMap ? up : est[along(across)], "y")];
      pen.globalAlpha = sure ? 1 : 0.45;
      pen.beginPath();
      pen.arc(x, y, 9.5, 0, 2 * Math.PI);
      [pen.fillStyle, pen.strokeStyle, pen.lineWidth] = [this.colours.paper, this.colours.ink, 1.5];
      pen.fill();
      pen.stroke();
      [pen.fillStyle, pen.textAlign, pen.textBaseline, pen.font] = [this.colours.ink, "center", "middle", FONT.replace("14", "12")];
      pen.fillText(String(i + 1), x, y + 0.5);
      pen.globalAlpha = 1;
    });
  }

  /** A curve with its band, or bars with whiskers. */
  drawAlong(pen) {
    const { est, low, high, values } = this.shown;
    const seen = values.map((value, i) => i).filter((i) => values[i] >= this.window.x[0] - 1 && values[i] <= this.window.x[1] + 1);
    const ends = extremes(seen.flatMap((i) => (low === null ? [est[i]] : [low[i], high[i], est[i]])));
    const distance = this.decoder.answers === "distance" || this.differs;
    const room = 0.06 * (ends[1] - ends[0] || 1);
    this.values = distance ? [ends[0] - room, ends[1] + room] : [Math.min(0, Math.max(ends[0], -0.15 * ends[1])), ends[1] + room];
    pen.save();
    pen.clip();
    if (this.shown.colourOf) this.drawStrip(pen);
    else if (this.across.kind === "category") this.drawBars(pen, seen);
    else this.drawCurve(pen, seen);
    pen.restore();
  }

  /** Whether the noise hides if anyone is at a place. */
  hides(i) {
    return this.hidden?.[i] ?? false;
  }

  /** Stretches that the noise hides, and those between them; what is hidden reaches to its neighbours. */
  stretches(seen) {
    const found = [];
    for (const i of seen) {
      const hidden = this.hides(i);
      if (found.at(-1)?.hidden !== hidden) found.push({ hidden, places: [] });
      found.at(-1).places.push(i);
    }
    return found.map(({ hidden, places }, at) => {
      const [before, after] = hidden ? [found[at - 1], found[at + 1]] : [];
      return { hidden, places: [...(before?.places.slice(-1) ?? []), ...places, ...(after?.places.slice(0, 1) ?? [])] };
    });
  }

  drawCurve(pen, seen) {
    const { est, low, high, values } = this.shown;
    const trace = (numbers, order) => order.forEach((i) => pen.lineTo(this.toPixels(values[i], "x"), this.toPixels(numbers[i], "y")));
    for (const { hidden, places } of this.stretches(seen)) {
      if (low !== null) {
        pen.beginPath();
        trace(low, places);
        trace(high, [...places].reverse());
        pen.globalAlpha = hidden ? 1 : 0.24;
        pen.fillStyle = hidden ? hatching(pen, this.colours.hatch, 1) : this.colours.shape;
        pen.fill();
        pen.globalAlpha = 1;
      }
      if (hidden) continue;
      pen.beginPath();
      trace(est, places);
      pen.strokeStyle = this.colours.shape;
      pen.lineWidth = 2.5;
      pen.lineJoin = "round";
      pen.stroke();
    }
  }

  /** A colour at each place, over the whole height. */
  drawStrip(pen) {
    const { values, colourOf } = this.shown;
    const wide = (values[1] ?? values[0] + 1) - values[0];
    values.forEach((at, i) => {
      const [red, green, blue, strength] = colourOf(i);
      pen.fillStyle = `rgb(${red} ${green} ${blue} / ${strength / 255})`;
      const [from, to] = [at - wide / 2, at + wide / 2].map((end) => this.toPixels(end, "x"));
      pen.fillRect(from, this.plot.top, to - from, this.plot.height);
    });
  }

  /** What cannot be told from none is hatched up to where it very likely ends. */
  drawBars(pen, seen) {
    const { est, low, high, values } = this.shown;
    const wide = Math.max(1, 0.72 * (this.toPixels(1, "x") - this.toPixels(0, "x")));
    const ground = this.toPixels(Math.max(0, this.values[0]), "y");
    const hatched = hatching(pen, this.colours.hatch, 1);
    for (const i of seen) {
      const hidden = this.hides(i);
      const [x, y] = [this.toPixels(values[i], "x"), this.toPixels(hidden ? high[i] : est[i], "y")];
      pen.fillStyle = hidden ? hatched : this.colours.shape;
      pen.fillRect(x - wide / 2, Math.min(y, ground), wide, Math.abs(ground - y));
      if (hidden || low === null || wide < 3) continue;
      pen.strokeStyle = this.colours.ink;
      pen.lineWidth = 1.5;
      this.line(pen, x, this.toPixels(low[i], "y"), x, this.toPixels(high[i], "y"));
    }
  }

  drawAxes(pen) {
    const { left, top, width, height } = this.plot;
    const bottom = top + height;
    pen.font = FONT;
    pen.strokeStyle = this.colours.hairline;
    pen.lineWidth = 1;
    pen.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    pen.fillStyle = this.colours.faint;
    pen.textAlign = "center";
    pen.textBaseline = "top";
    const most = this.across.kind === "date" ? width / 90 : width / 70;
    for (const [place, words] of this.apart(marksOf(this.across, this.window.x, Math.min(9, most)), pen, width)) {
      const x = this.toPixels(place, "x");
      this.line(pen, x, bottom, x, bottom + 5);
      const half = pen.measureText(words).width / 2;
      pen.fillText(words, Math.min(Math.max(x, left - 20), this.plot.whole - half), bottom + 8);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const marks = this.isMap ? marksOf(this.up, this.window.y, height / 45) : this.shown.colourOf ? [] : roundMarks(...this.values, height / 55).map(([place]) => [place, significant(place, 6)]);
    for (const [place, words] of marks) {
      const y = this.toPixels(place, "y");
      this.line(pen, left - 5, y, left, y);
      pen.fillText(cutTo(words, left - 10), left - 8, y);
    }
    pen.fillStyle = this.colours.ink;
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(cutTo(titleOf(this.across), width), left + width / 2, this.plot.all);
    pen.textAlign = "left";
    const up = this.isMap ? titleOf(this.up) : this.decoder.title; // what a curve counts, the page says below it
    if (up) pen.fillText(cutTo(up, width), left, top - 5);
  }

  /** Marks whose words do not run into each other. */
  apart(marks, pen, width) {
    const each = width / Math.max(1, marks.length);
    // Beginnings of dates are alike, so a date is written whole or not at all.
    const whole = this.across.kind === "date" || this.across.begins;
    const short = marks.map(([place, words]) => [place, whole ? words : cutTo(words, Math.max(54, each - 8))]);
    let end = -Infinity;
    return short.filter(([place, words]) => {
      const [x, half] = [this.toPixels(place, "x"), pen.measureText(words).width / 2];
      if (x - half < end + 6) return false;
      end = x + half;
      return true;
    });
  }

  line(pen, x0, y0, x1, y1) {
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  }

  /** The point and the box that are asked. */
  drawAsked(pen) {
    const { top, height } = this.plot;
    if (this.box) {
      const [x0, x1] = this.box.x.map((value) => this.toPixels(value, "x"));
      const [y1, y0] = this.box.y ? this.box.y.map((value) => this.toPixels(value, "y")) : [top + height, top];
      pen.lineWidth = 3;
      pen.strokeStyle = this.colours.paper;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
      pen.lineWidth = 1.5;
      pen.setLineDash([6, 4]);
      pen.strokeStyle = this.colours.ink;
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
      pen.setLineDash([]);
    }
    if (!this.point) return;
    const x = this.toPixels(this.point.x, "x");
    const y = this.isMap ? this.toPixels(this.point.y, "y") : null;
    for (const [colour, wide] of [[this.colours.paper, 5], [this.colours.ink, 2]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = wide;
      if (y === null) this.line(pen, x, top, x, top + height);
      else {
        pen.beginPath();
        pen.arc(x, y, 7, 0, 2 * Math.PI);
        pen.stroke();
      }
    }
  }
}

export const extremes = (numbers) => {
  let [least, most] = [Infinity, -Infinity];
  for (const value of numbers) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
};

export const unitOf = ({ answers, counted, unit, measured }) =>
  answers === "distance" ? `average distance${unit ? `, ${unit}` : ""}` : answers === "difference" ? measured : `${counted} close by`;

/** What stands below a picture: its colours, or what its heights are, and what hatching means. */
export const legendOf = (chart) => {
  const { decoder, colours, shown, range } = chart;
  const painted = (width, paint) => {
    const canvas = element("canvas", { width, height: 12, "aria-hidden": "true" });
    paint(canvas.getContext("2d"));
    return canvas;
  };
  const parts = [];
  const turned = decoder.answers === "distance";
  if (chart.isMap) {
    const bar = painted(160, (pen) => {
      for (let i = 0; i < 160; i++) {
        pen.fillStyle = `rgb(${shade(chart.differs ? colours.differing : colours.shades, turned ? 1 - i / 159 : i / 159).join(" ")})`;
        pen.fillRect(i, 0, 1, 12);
      }
    });
    parts.push(element("span", { class: "scale-bar" }, significant(range[0], 2), bar, `${significant(range[1], 2)} ${unitOf(decoder)}`));
  } else if (!decoder.title) {
    parts.push(element("span", {}, `Up: ${unitOf(decoder)}. ${shown.low === null ? "" : "The band or line holds the exact answer in 95 of 100 cases."}`));
  }
  if (!turned && shown.low?.some((value) => value <= 0)) {
    const swatch = painted(26, (pen) => {
      pen.fillStyle = hatching(pen, colours.hatch, 1);
      pen.fillRect(0, 0, 26, 12);
    });
    parts.push(element("span", { class: "scale-bar" }, swatch, chart.differs ? "Noise alone may make it" : "Hidden by the noise: may be empty"));
  }
  return parts;
};

/** A picture that is looked at and not asked; one that is printed alone has no room before. */
export class Still extends Chart {
  constructor(figure, facts) {
    const canvas = element("canvas", { role: "img", "aria-labelledby": figure.querySelector("figcaption").id });
    super(canvas);
    const legend = element("div", { class: "legend" });
    canvas.addEventListener("drawn", () => legend.replaceChildren(...legendOf(this)));
    figure.prepend(element("div", { class: "canvas" }, canvas), legend);
    this.show(new Lattice(facts), 0, facts.columns.length > 1 ? 1 : null, {});
  }

  get lowest() {
    return 150;
  }
}
