// Colours and patterns of the page, as the visitor's theme has them now.

export const SHADES = 10;

/** Colours that a canvas draws with, read off the style sheet that holds somewhere. */
export const coloursNow = (place = document.body) => {
  const probe = document.createElement("span");
  place.append(probe);
  const read = (name) => {
    probe.className = name;
    return getComputedStyle(probe).color;
  };
  const names = ["ink", "faint", "teal", "amber", "hairline", "paper"];
  /** @type {Record<string, any>} */
  const found = Object.fromEntries(names.map((name) => [name, read(`c-${name}`)]));
  found.shades = Array.from({ length: SHADES }, (_, i) => components(read(`c-shade-${i}`)));
  found.shape = read("c-teal-shape");
  found.hatch = read("c-hatch");
  found.differing = ["amber", "paper", "teal"].map((name) => components(found[name]));
  probe.remove();
  return found;
};

const components = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);

/** The shade of a share between 0 and 1, between the two nearest. */
export const shade = (shades, share) => {
  const place = Math.min(Math.max(share, 0), 1) * (shades.length - 1);
  const first = Math.min(Math.floor(place), shades.length - 2);
  return shades[first].map((one, c) => one + (shades[first + 1][c] - one) * (place - first));
};

const TINTS = 1024; // Many more than anyone tells apart.

/** The shade of a share between 0 and 1, of so many worked out once: a picture has tens of thousands of places. */
export const tinted = (shades) => {
  const tints = Array.from({ length: TINTS + 1 }, (_, i) => shade(shades, i / TINTS));
  return (share) => tints[Math.round(Math.min(Math.max(share, 0), 1) * TINTS)];
};

/** A pattern of thin diagonal lines. */
export const hatching = (context, colour, scale) => {
  const size = Math.round(7 * scale);
  const tile = new OffscreenCanvas(size, size);
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = scale;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, size);
    pen.lineTo(shift + size, 0);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
};

/** A picture of numbers as an image, one pixel a place, the first row at the bottom. */
export const imageOf = (width, height, colourAt) => {
  const image = new ImageData(width, height);
  const { data } = image;
  for (let j = 0; j < height; j++) {
    for (let i = 0; i < width; i++) {
      const colour = colourAt(j * width + i);
      if (!colour) continue;
      const at = 4 * ((height - 1 - j) * width + i);
      for (let c = 0; c < 3; c++) data[at + c] = colour[c];
      data[at + 3] = colour[3] ?? 255;
    }
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
};

const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]([^A-Za-zÀ-ɏ,:;·(){}<>]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])?…?/g;

/** A text in which names that run from right to left leave the order of what is around them as it is. */
export const isolated = (text) => (typeof text === "string" ? text.replace(FROM_RIGHT, "\u2068$&\u2069") : text);

/** Change what is there only where it is another: a browser lays out and paints again what was touched. */
export const put = (node, words) => {
  const text = isolated(words);
  if (node.textContent === text) return;
  if (text && node.firstChild?.data) node.firstChild.data = text; // as long as there is a text, no style has to be found again
  else node.textContent = text;
};

/** An element with attributes and children; every text becomes a text and nothing else. */
export const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.map(isolated));
  return made;
};

/** A list to choose from, each option a name or a value with its name; `changed` hears the chosen one's value. */
export const selectOf = (label, options, value, changed, id = null) => {
  const select = element("select", { id, onchange: () => changed(Number(select.value)) },
    ...options.map((one, place) => (Array.isArray(one) ? one : [place, one])).map(([own, name]) => element("option", { value: own, selected: own === value }, name)));
  return element("label", {}, element("span", {}, label), select);
};

/** A table that scrolls by itself; a cell is a text or a node. */
export const plainTable = (title, heads, rows) => element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": title },
  element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, ...rows.map(([first, ...cells]) => element("tr", {}, element("th", { scope: "row" }, first), ...cells.map((cell) => element("td", {}, cell)))))));

export const FONT = '14px "Frostglass Sans", "Source Sans", "Source Sans 3", system-ui, sans-serif';

/** A measure of texts in the page's type. */
export const textWidth = (() => {
  let pen = null;
  return (words) => {
    pen ??= document.createElement("canvas").getContext("2d");
    pen.font = FONT;
    return pen.measureText(words).width;
  };
})();

export const cutTo = (words, width) => {
  if (textWidth(words) <= width) return isolated(words);
  let end = words.length;
  while (end > 1 && textWidth(`${words.slice(0, end)}…`) > width) end--;
  return isolated(`${words.slice(0, end).trimEnd()}…`);
};
