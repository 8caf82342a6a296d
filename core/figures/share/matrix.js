// Small pictures of all pairs of columns inside a page of another program: each is a button that opens it.
import { fromBase64 } from "./bytes.js";
import { coloursNow, element, imageOf, shade } from "./canvas.js";
import { drawing } from "./pictures.js";

const HIDDEN = 255, MOST = 254;

/** A map of one pair, dark where its numbers are high; what the noise hides is left to the hatching below it. */
const paintMap = (canvas, { cells, across }, shades) => {
  const numbers = fromBase64(cells);
  const image = imageOf(across, numbers.length / across, (i) => (numbers[i] === HIDDEN ? null : shade(shades, numbers[i] / MOST)));
  Object.assign(canvas, { width: image.width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0);
};

/** A curve of one column, or bars of categories, in a box of 100 by 100. */
const curveOf = ({ cells, bars, filled }) => {
  const heights = Array.from(fromBase64(cells), (one) => 100 - (94 * one) / MOST);
  const wide = 100 / (bars ? heights.length : heights.length - 1);
  const line = bars ? heights.map((y, i) => `M${(i + 0.05) * wide} 100V${y}h${0.9 * wide}V100`).join("") : heights.map((y, i) => `${i ? "L" : "M"}${i * wide} ${y}`).join("");
  const area = filled ? [drawing("path", { class: "under", d: bars ? line : `${line}V100H0z` })] : [];
  return drawing("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" }, ...area, drawing("path", { class: "over", d: line }));
};

/**
 * Draws the pictures, once for each `identity`, and once more in the colours of another theme.
 *
 * Handed over is `release_pictures.pairs_facts`. Told is the trigger "opened": the names of one column, or of two.
 * @param {{data: {identity: string, names: string[], said: string, curves: {cells: string, bars: boolean, filled: boolean}[],
 *   maps: {x: number, y: number, cells: string, across: number, smooth: boolean}[]},
 *   parentElement: ParentNode, setTriggerValue: (name: string, value: string[]) => void}} given
 */
export const matrix = ({ data, parentElement, setTriggerValue }) => {
  const place = /** @type {any} */ (parentElement.querySelector(".inside")); // with what is kept on it between runs
  place.tell = (names) => setTriggerValue("opened", names);
  if (place.identity !== data.identity) {
    place.identity = data.identity;
    const door = (names, row, column, picture) => element("button", { type: "button", class: "door", "aria-label": `Open ${names.join(" and ")}`, title: names.join(" and "),
      style: `grid-area: ${row + 1} / ${column + 1}`, onclick: () => place.tell(names) }, picture);
    place.maps = data.maps.map((map) => [element("canvas", { class: map.smooth ? "" : "coarse" }), map]);
    const doors = data.names.flatMap((name, i) => [
      ...place.maps.filter(([, { y }]) => y === i).map(([canvas, { x, y }]) => door([data.names[x], data.names[y]], y, x, canvas)),
      door([name], i, i, curveOf(data.curves[i])),
      element("span", { class: "name", style: `grid-area: ${i + 1} / ${i + 2} / auto / -1` }, name)]);
    const columns = `grid-template-columns: repeat(${data.names.length}, minmax(0, 1fr)) minmax(4.2rem, 0.5fr)`;
    place.replaceChildren(element("div", { class: "doors", role: "group", "aria-label": data.said, style: columns }, ...doors));
  }
  const { shades } = coloursNow(place);
  for (const [canvas, map] of place.maps) paintMap(canvas, map, shades);
};
