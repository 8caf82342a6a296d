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
    return { apart: Math.max(1, Math.hypot(one.x - other.x, one.y - other.y)), place: this.placeAt(middle),
      share: { x: (middle.x - left) / width, y: 1 - (middle.y - top) / height } };
  }

  /** What was between two fingers stays there, as large as they are apart. */
  zoomBetween() {
    const { apart, share } = this.pinched();
    this.look((name) => {
      const [low, high] = this.pinch.window[name];
      const length = ((high - low) * this.pinch.apart) / apart;
      const start = this.pinch.place[name] - share[name] * length;
      return [start, start + length];
    });
  }

  move(event) {
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, this.at(event));
    if (this.pinch) this.zoomBetween();
    if (!this.drag) return;
    const now = this.at(event);
    const far = Math.hypot(now.x - this.drag.x, now.y - this.drag.y) > CLICK;
    if (!far) return;
    if (this.drag.moves) this.pan(now);
    else if (this.tool === "box" || event.pointerType === "mouse") this.mark(this.placeAt(this.drag), this.placeAt(now));
  }

  pan(now) {
    const share = { x: (this.drag.x - now.x) / this.plot.width, y: (now.y - this.drag.y) / this.plot.height };
    this.look((side) => this.drag.window[side].map((end, _, [low, high]) => end + share[side] * (high - low)));
  }

  /** The place at pixels of the canvas. */
  placeAt(pixels) {
    return this.sides((side) => this.toPlace(pixels[side], side));
  }

  /** Show a window, moved inside the bounds. */
  look(ends) {
    this.window = this.sides((side) => this.inside(ends(side), side));
    this.draw();
  }

  /** A box from one place to another; of categories it holds whole ones. */
  mark(from, to) {
    this.box = this.sides((side) => {
      const [low, high] = [from[side], to[side]].sort((a, b) => a - b);
      return this.column(side).kind === "category" ? [Math.round(low) - 0.5, Math.round(high) + 0.5] : [low, high];
    });
    this.point = null;
    this.draw();
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
    this.ask(this.placeAt(now));
  }

  ask(point) {
    this.point = point;
    this.box = null;
    this.onPoint(point);
    this.draw(); // what says what is drawn says the answer, too
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== this.canvas) return; // the page scrolls
    event.preventDefault();
    this.zoom(Math.exp(event.deltaY * 0.0015), this.placeAt(this.at(event)));
  }

  /** Make the view so many times as long, around a place. */
  zoom(factor, around = null) {
    this.look((side) => this.window[side].map((end, _, [low, high]) => {
      const centre = around ? around[side] : (low + high) / 2;
      return centre + (end - centre) * factor;
    }));
  }

  /**
   * A window of the same length inside the bounds; a hundredth of them at least.
   * @param {number[]} ends
   * @returns {[number, number]}
   */
  inside([low, high], side) {
    const [least, most] = endsOf(this.column(side));
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
    const from = this.point ?? this.corner ?? this.sides((side) => (this.window[side][0] + this.window[side][1]) / 2);
    const next = this.sides((side) => this.stepped(from[side], side === "x" ? right : upwards, side));
    if (!boxes) {
      this.corner = this.anchor = null;
      this.ask(next);
      return;
    }
    this.anchor ??= from;
    this.corner = next;
    this.mark(this.anchor, next);
    this.onBox(this.box);
  }

  stepped(value, steps, side) {
    const [column, [low, high]] = [this.column(side), this.window[side]];
    const length = column.kind === "category" ? 1 : (high - low) * KEY_STEP;
    const [least, most] = endsOf(column);
    return Math.min(Math.max(value + steps * length, Math.max(low, least)), Math.min(high, most));
  }
}
