// The picture: a map, a curve or bars on a canvas, which is pointed at, dragged over, moved and zoomed, also by keys.

const PAD = { left: 62, right: 14, top: 26, bottom: 46 };
const STEP = 1 / 40;
const CLICK = 5;

class Chart {
  /** `onPoint` is called with a place, `onBox` with two ends an axis, `onWindow` when the view has moved. */
  constructor(canvas, { onPoint, onBox }) {
    Object.assign(this, { canvas, onPoint, onBox });
    this.tool = "point";
    this.point = this.box = this.drag = null;
    this.listen();
    addEventListener("resize", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Show other columns of a decoder; the view begins with all of them. */
  show(decoder, x, y, held) {
    const moved = decoder !== this.decoder || x !== this.x || y !== this.y;
    Object.assign(this, { decoder, x, y, held });
    if (moved) {
      this.home();
      this.point = this.box = null;
    }
    this.draw();
  }

  home() {
    this.window = { x: endsOf(this.decoder.columns[this.x]), y: this.y === null ? null : endsOf(this.decoder.columns[this.y]) };
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
    const left = narrow ? 48 : PAD.left;
    const plot = width - left - PAD.right;
    let height = Math.min(Math.max(260, plot * (narrow ? 0.95 : 0.62)), Math.max(280, 0.6 * innerHeight));
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

  draw() {
    if (!this.decoder) return;
    this.plot = this.laidOut();
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.plot.whole * scale);
    this.canvas.height = Math.round(this.plot.all * scale);
    this.canvas.style.height = `${this.plot.all}px`;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    this.colours = coloursNow();
    const places = [Math.min(240, Math.ceil(this.plot.width / 3)), Math.min(200, Math.ceil(this.plot.height / 3))];
    if (!this.isMap) places[0] = Math.min(400, Math.ceil(this.plot.width));
    const key = JSON.stringify([this.window, places, this.held, this.decoder.chosen, this.x, this.y, this.decoder.name]);
    if (key !== this.drawnFor) this.shown = this.decoder.picture(this.x, this.y, this.window, places, this.held);
    this.drawnFor = key;
    this.range = this.decoder.answers === "distance" && this.isMap ? extremes(this.shown.est) : [0, Math.max(...extremes(this.shown.est))];
    pen.save();
    pen.beginPath();
    pen.rect(this.plot.left, this.plot.top, this.plot.width, this.plot.height);
    if (this.isMap) {
      pen.clip();
      this.drawMap(pen, scale);
    } else this.drawAlong(pen);
    pen.restore();
    this.drawAxes(pen);
    this.drawAsked(pen);
    this.canvas.dispatchEvent(new CustomEvent("drawn"));
  }

  drawMap(pen, scale) {
    const { est, low, shape, rect } = this.shown;
    const [least, most] = this.range;
    const turned = this.decoder.answers === "distance";
    const shareOf = (value) => (most > least ? (value - least) / (most - least) : 0);
    const image = imageOf(shape[1], shape[0], (i) => shade(this.colours.shades, turned ? 1 - shareOf(est[i]) : shareOf(est[i])));
    const [x, right] = rect[0].map((end) => this.toPixels(end, "x"));
    const [bottom, y] = rect[1].map((end) => this.toPixels(end, "y"));
    pen.imageSmoothingEnabled = this.decoder.exact && this.across.kind !== "category" && this.up.kind !== "category";
    pen.drawImage(image, x, y, right - x, bottom - y);
    if (turned || low === null || !low.some((value) => value <= 0)) return;
    // Where the interval reaches zero nobody knows whether there is anyone.
    const mask = imageOf(shape[1], shape[0], (i) => (low[i] <= 0 ? [0, 0, 0] : null));
    const layer = new OffscreenCanvas(this.canvas.width, this.canvas.height);
    const hatch = layer.getContext("2d");
    hatch.imageSmoothingEnabled = false;
    hatch.setTransform(scale, 0, 0, scale, 0, 0);
    hatch.drawImage(mask, x, y, right - x, bottom - y);
    hatch.globalCompositeOperation = "source-in";
    hatch.setTransform(1, 0, 0, 1, 0, 0);
    hatch.fillStyle = hatching(hatch, this.colours.hatch, scale);
    hatch.fillRect(0, 0, layer.width, layer.height);
    pen.save();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(layer, 0, 0);
    pen.restore();
  }

  /** A curve with its band, or bars with whiskers. */
  drawAlong(pen) {
    const { est, low, high, values } = this.shown;
    const seen = values.map((value, i) => i).filter((i) => values[i] >= this.window.x[0] - 1 && values[i] <= this.window.x[1] + 1);
    const ends = extremes(seen.flatMap((i) => (low === null ? [est[i]] : [low[i], high[i], est[i]])));
    const distance = this.decoder.answers === "distance";
    const room = 0.06 * (ends[1] - ends[0] || 1);
    this.values = distance ? [ends[0] - room, ends[1] + room] : [Math.min(0, Math.max(ends[0], -0.15 * ends[1])), ends[1] + room];
    pen.save();
    pen.clip();
    if (this.across.kind === "category") this.drawBars(pen, seen);
    else this.drawCurve(pen, seen);
    pen.restore();
  }

  drawCurve(pen, seen) {
    const { est, low, high, values } = this.shown;
    const trace = (numbers, order) => order.forEach((i) => pen.lineTo(this.toPixels(values[i], "x"), this.toPixels(numbers[i], "y")));
    if (low !== null) {
      pen.beginPath();
      trace(low, seen);
      trace(high, [...seen].reverse());
      pen.globalAlpha = 0.24;
      pen.fillStyle = this.colours.shape;
      pen.fill();
      pen.globalAlpha = 1;
    }
    pen.beginPath();
    trace(est, seen);
    pen.strokeStyle = this.colours.shape;
    pen.lineWidth = 2.5;
    pen.lineJoin = "round";
    pen.stroke();
  }

  drawBars(pen, seen) {
    const { est, low, high, values } = this.shown;
    const wide = Math.max(1, 0.72 * (this.toPixels(1, "x") - this.toPixels(0, "x")));
    const ground = this.toPixels(Math.max(0, this.values[0]), "y");
    for (const i of seen) {
      const [x, y] = [this.toPixels(values[i], "x"), this.toPixels(est[i], "y")];
      pen.fillStyle = this.colours.shape;
      pen.globalAlpha = low !== null && low[i] <= 0 ? 0.35 : 0.9;
      pen.fillRect(x - wide / 2, Math.min(y, ground), wide, Math.abs(ground - y));
      pen.globalAlpha = 1;
      if (low === null || wide < 3) continue;
      pen.strokeStyle = this.colours.ink;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.moveTo(x, this.toPixels(low[i], "y"));
      pen.lineTo(x, this.toPixels(high[i], "y"));
      pen.stroke();
    }
  }

  drawAxes(pen) {
    const { left, top, width, height } = this.plot;
    const bottom = top + height;
    pen.font = '13px "Source Sans 3", "Source Sans Pro", "Segoe UI", system-ui, sans-serif';
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
      pen.fillText(words, Math.min(Math.max(x, left - 20), left + width), bottom + 8);
    }
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const marks = this.isMap ? marksOf(this.up, this.window.y, height / 45) : roundMarks(...this.values, height / 55);
    for (const [place, words] of marks) {
      const y = this.toPixels(place, "y");
      this.line(pen, left - 5, y, left, y);
      pen.fillText(cut(pen, words, left - 10), left - 8, y);
    }
    pen.fillStyle = this.colours.ink;
    pen.textAlign = "center";
    pen.textBaseline = "bottom";
    pen.fillText(cut(pen, titleOf(this.across), width), left + width / 2, this.plot.all);
    pen.textAlign = "left";
    if (this.isMap) pen.fillText(cut(pen, titleOf(this.up), width), left, top - 5);
  }

  /** Marks whose words do not run into each other. */
  apart(marks, pen, width) {
    const each = width / Math.max(1, marks.length);
    // Beginnings of dates are alike, so a date is written whole or not at all.
    const whole = this.across.kind === "date" || this.across.begins;
    const short = marks.map(([place, words]) => [place, whole ? words : cut(pen, words, Math.max(54, each - 8))]);
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

  // What people do.

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.lift(event));
    canvas.addEventListener("pointercancel", () => { this.drag = null; });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  use(tool) {
    this.tool = tool;
    this.canvas.style.touchAction = tool === "point" ? "auto" : "none";
    this.canvas.style.cursor = tool === "move" ? "grab" : "crosshair";
  }

  at(event) {
    const rect = this.canvas.getBoundingClientRect();
    return { x: event.clientX - rect.left, y: event.clientY - rect.top };
  }

  press(event) {
    if (event.button !== 0) return;
    const moves = this.tool === "move" || event.shiftKey;
    this.drag = { ...this.at(event), moves, window: { ...this.window } };
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // a pointer that is gone already cannot be followed
    }
  }

  move(event) {
    if (!this.drag) return;
    const now = this.at(event);
    const far = Math.hypot(now.x - this.drag.x, now.y - this.drag.y) > CLICK;
    if (!far) return;
    if (this.drag.moves) this.pan(now);
    else if (this.tool === "box" || event.pointerType === "mouse") this.mark(this.drag, now);
  }

  pan(now) {
    const shift = (side, pixels, length) => {
      const [low, high] = this.drag.window[side];
      return this.inside([low + (pixels / length) * (high - low), high + (pixels / length) * (high - low)], side);
    };
    this.window = { ...this.window, x: shift("x", this.drag.x - now.x, this.plot.width) };
    if (this.isMap) this.window.y = shift("y", now.y - this.drag.y, this.plot.height);
    this.draw();
  }

  mark(from, to) {
    const side = (name) => [this.toPlace(from[name], name), this.toPlace(to[name], name)].sort((a, b) => a - b);
    this.box = { x: this.whole(side("x"), this.across), y: this.isMap ? this.whole(side("y"), this.up) : null };
    this.point = null;
    this.draw();
  }

  /** Of categories a box holds whole ones. */
  whole([low, high], column) {
    return column.kind === "category" ? [Math.round(low) - 0.5, Math.round(high) + 0.5] : [low, high];
  }

  lift(event) {
    const [drag, now] = [this.drag, this.at(event)];
    this.drag = null;
    if (!drag) return;
    if (Math.hypot(now.x - drag.x, now.y - drag.y) > CLICK) {
      if (!drag.moves && this.box) this.onBox(this.box);
      return;
    }
    if (this.tool === "move") return;
    this.ask({ x: this.toPlace(now.x, "x"), y: this.isMap ? this.toPlace(now.y, "y") : null });
  }

  ask(point) {
    this.point = point;
    this.box = null;
    this.draw();
    this.onPoint(point);
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return; // the page scrolls
    event.preventDefault();
    const at = this.at(event);
    this.zoom(Math.exp(event.deltaY * 0.0015), { x: this.toPlace(at.x, "x"), y: this.isMap ? this.toPlace(at.y, "y") : null });
  }

  /** Make the view so many times as long, around a place. */
  zoom(factor, around = null) {
    const side = (name) => {
      const [low, high] = this.window[name];
      const centre = around ? around[name] : (low + high) / 2;
      return this.inside([centre + (low - centre) * factor, centre + (high - centre) * factor], name);
    };
    this.window = { x: side("x"), y: this.isMap ? side("y") : null };
    this.draw();
  }

  /** A window of the same length inside the bounds; a hundredth of them at least. */
  inside([low, high], side) {
    const [least, most] = endsOf(side === "x" ? this.across : this.up);
    const length = Math.min(Math.max(high - low, (most - least) / 100), most - least);
    const start = Math.min(Math.max((low + high - length) / 2, least), most - length);
    return [start, start + length];
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (event.key in moves) this.step(moves[event.key], event.shiftKey);
    else if (event.key === "+" || event.key === "=") this.zoom(1 / 1.4, this.point);
    else if (event.key === "-") this.zoom(1.4, this.point);
    else if (event.key === "0") { this.home(); this.draw(); }
    else if (event.key === "Escape") { this.point = this.box = null; this.draw(); }
    else return;
    event.preventDefault();
  }

  /** Arrow keys move the point that is asked; with Shift they draw a box from where it was. */
  step([right, upwards], boxes) {
    const middle = (side) => (side ? (side[0] + side[1]) / 2 : null);
    const from = this.point ?? this.corner ?? { x: middle(this.window.x), y: middle(this.window.y) };
    const next = { x: this.stepped(from.x, right, "x"), y: this.isMap ? this.stepped(from.y, upwards, "y") : null };
    if (!boxes) {
      this.corner = this.anchor = null;
      this.ask(next);
      return;
    }
    this.anchor ??= from;
    this.corner = next;
    const side = (name, column) => this.whole([this.anchor[name], next[name]].sort((a, b) => a - b), column);
    this.box = { x: side("x", this.across), y: this.isMap ? side("y", this.up) : null };
    this.point = null;
    this.draw();
    this.onBox(this.box);
  }

  stepped(value, steps, side) {
    const column = side === "x" ? this.across : this.up;
    const [low, high] = this.window[side];
    const length = column.kind === "category" ? 1 : (high - low) * STEP;
    const [least, most] = endsOf(column);
    return Math.min(Math.max(value + steps * length, Math.max(low, least)), Math.min(high, most));
  }
}

const extremes = (numbers) => {
  let [least, most] = [Infinity, -Infinity];
  for (const value of numbers) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
};

/** Words cut to a width. */
const cut = (pen, words, width) => {
  if (pen.measureText(words).width <= width) return words;
  let end = words.length;
  while (end > 1 && pen.measureText(`${words.slice(0, end)}…`).width > width) end--;
  return `${words.slice(0, end)}…`;
};
