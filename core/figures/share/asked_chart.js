// Asking on a picture: it is pointed at, dragged over, moved and zoomed, also by keys.
import { Chart } from "./chart.js";
import { endsOf } from "./numbers.js";

const KEY_STEP = 1 / 40;
const CLICK = 5;

export class AskedChart extends Chart {
  fingers; onBox; onPoint; pinch;

  /** `onPoint` is called with a place, `onBox` with two ends an axis. */
  constructor(canvas, { onPoint, onBox }, signal) {
    super(canvas, signal);
    Object.assign(this, { onPoint, onBox, tool: "point", drag: null, pinch: null, fingers: new Map() });
    this.listen();
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.lift(event));
    canvas.addEventListener("pointercancel", (event) => { this.fingers.delete(event.pointerId); this.drag = this.pinch = null; });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  use(tool) {
    this.tool = tool;
    this.canvas.style.touchAction = tool === "point" ? "pan-y" : "none"; // one finger scrolls the page, two zoom the picture
    this.canvas.style.cursor = tool === "move" ? "grab" : "crosshair";
  }

  at(event) {
    const rect = this.canvas.getBoundingClientRect();
    return { x: event.clientX - rect.left, y: event.clientY - rect.top };
  }

  press(event) {
    if (event.button !== 0) return;
    this.fingers.set(event.pointerId, this.at(event));
    if (this.fingers.size > 1) {
      this.drag = null;
      this.pinch = { ...this.pinched(), window: { ...this.window } };
      return;
    }
    const moves = this.tool === "move" || event.shiftKey;
    this.drag = { ...this.at(event), moves, window: { ...this.window } };
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // a pointer that is gone already cannot be followed
    }
  }

  /** How far two fingers are apart, what is in the middle of them, and which share of the picture that is. */
  pinched() {
    const [one, other] = [...this.fingers.values()];
    const middle = { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
    const { left, top, width, height } = this.plot;
    return { apart: Math.max(1, Math.hypot(one.x - other.x, one.y - other.y)), place: { x: this.toPlace(middle.x, "x"), y: this.isMap ? this.toPlace(middle.y, "y") : null },
      share: { x: (middle.x - left) / width, y: 1 - (middle.y - top) / height } };
  }

  /** What was between two fingers stays there, as large as they are apart. */
  zoomBetween() {
    const { apart, share } = this.pinched();
    const side = (name) => {
      const [low, high] = this.pinch.window[name];
      const length = ((high - low) * this.pinch.apart) / apart;
      const start = this.pinch.place[name] - share[name] * length;
      return this.inside([start, start + length], name);
    };
    this.window = { x: side("x"), y: this.isMap ? side("y") : null };
    this.draw();
  }

  move(event) {
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, this.at(event));
    if (this.pinch) this.zoomBetween();
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

  /**
   * Of categories a box holds whole ones.
   * @param {number[]} ends
   */
  whole([low, high], column) {
    return column.kind === "category" ? [Math.round(low) - 0.5, Math.round(high) + 0.5] : [low, high];
  }

  lift(event) {
    const [drag, now] = [this.drag, this.at(event)];
    this.fingers.delete(event.pointerId);
    this.drag = this.pinch = null;
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

  /**
   * A window of the same length inside the bounds; a hundredth of them at least.
   * @param {number[]} ends
   * @returns {[number, number]}
   */
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
    const length = column.kind === "category" ? 1 : (high - low) * KEY_STEP;
    const [least, most] = endsOf(column);
    return Math.min(Math.max(value + steps * length, Math.max(low, least)), Math.min(high, most));
  }
}
