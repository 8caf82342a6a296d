// Every visible text whose contrast with what lies behind it is below AA (WCAG 2.2, 1.4.3), with the ratio.
// Disabled controls and icons are exempt there, and here.
() => {
  const channels = css => { const n = css.match(/[\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1] };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const linear = v => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const exempt = "svg, style, script, noscript, template, [disabled], [aria-disabled=true], [data-disabled], [data-testid=stIconMaterial]";
  const faults = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim(), element = texts.currentNode.parentElement;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (!text || element.closest(exempt) || box.width < 2 || box.height < 2) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    // A slider's value is a child of its thumb, and stands above it.
    const thumb = element.closest("[data-testid=stSliderThumbValue]")?.parentElement;
    const layers = [];
    let opacity = 1;
    for (let parent = element; parent; parent = parent.parentElement) {
      opacity *= Number(getComputedStyle(parent).opacity);
      if (parent === thumb) continue;
      const layer = channels(getComputedStyle(parent).backgroundColor);
      layers.unshift(layer);
      if (layer[3] === 1) break;
    }
    if (opacity < 0.1) continue;  // on its way in or out, as a slider's ends are when the pointer leaves it
    const behind = layers.reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
    const ink = channels(style.color);
    ink[3] *= opacity;
    const [light, dark] = [luminance(over(ink, behind)), luminance(behind)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (large ? 3 : 4.5)) faults.push([text.slice(0, 60), Math.round(ratio * 100) / 100]);
  }
  return faults;
}
