// The picture of a release inside a page of another program, such as the app, which says what is drawn and held.
import { fromBase64, populationOf, unpackedSteps, unzipped } from "./bytes.js";
import { MOST_PLACES } from "./chart.js";
import { Explorer } from "./explorer.js";
import { Live, isMuchFiner } from "./live.js";
import { openRelease } from "../../../readers/javascript/release.js";

const begun = async (place, data) => {
  const facts = await unzipped(data.facts);
  const [decoder, listening] = [new Live(facts), new AbortController()];
  const explorer = new Explorer({ decoder, x: -1, y: null, held: {} }, data.said, listening.signal);
  const open = async () => decoder.open(populationOf(facts, await openRelease(fromBase64(data.file))));
  let before = place.clientWidth; // its height follows from its width, and moves nothing
  const sized = new ResizeObserver(() => place.clientWidth !== before && (before = place.clientWidth) && explorer.update());
  sized.observe(place);
  listening.signal.addEventListener("abort", () => sized.disconnect());
  return { explorer, listening, open };
};

/** Once a browser has painted what there is. */
const painted = () => new Promise((next) => { requestAnimationFrame(() => setTimeout(next)); });

/** Opens what is asked next, behind a picture that has its first answer; until then there is nothing to be asked. */
const openedBehind = async (place, open) => {
  place.inert = true;
  await painted();
  await open().finally(() => { place.inert = false; });
};

/**
 * Draws one or two columns of a release, opened once for each `identity`, and gives back what takes it away.
 *
 * Handed over is `shared_page.pictured`: the `file`, what it does not say of itself (`facts`, packed JSON), the `identity`
 * of what is asked, and what is `said` of all answers; and besides which columns are drawn (`x`, `y` or null, places on the
 * list of the facts), the map of them if it was worked out before (`given`, packed, else ""), the values `held` by name, the `marks` on it (x, y or null, and whether they are sure), and `lines` in
 * degrees in place of coasts, or null. Told is the state "asked", a coordinate a drawn column, whenever somebody asks a
 * point. Nothing else leaves the page: every picture and every answer is worked out here.
 * @param {{data: {identity: string, facts: string, file: string, said: string, given: string, x: number, y: number | null,
 *   held: Record<string, any>, marks: [number, number | null, boolean][], lines: number[][][] | null},
 *   parentElement: ParentNode, setStateValue: (name: string, value: number[]) => void}} given
 */
export const pictured = async ({ data, parentElement, setStateValue }) => {
  const place = /** @type {any} */ (parentElement.querySelector(".inside")); // with what is kept on it between runs
  const end = () => place.isConnected || place.end?.(); // a run that comes late ends nothing that is on show
  place.data = data;
  if (place.identity !== data.identity) {
    place.end?.();
    place.identity = data.identity;
    place.ready = begun(place, data);
    place.opened = null;
  }
  const given = data.given ? unpackedSteps(await unzipped(data.given)) : null;
  const { explorer, listening, open } = await place.ready;
  const isEnough = given && !explorer.chart.shown && !isMuchFiner(MOST_PLACES, given.shape);
  if (!isEnough) await (place.opened ??= open());
  if (place.data !== data) return end; // another run came meanwhile
  place.end = () => listening.abort();
  if (place.explorer !== explorer) place.replaceChildren(...explorer.parts);
  place.explorer = explorer;
  const { decoder } = explorer.controls;
  decoder.ownOutline ??= decoder.outline;
  decoder.bring(data.x, data.y, given);
  Object.assign(decoder, { nearest: data.held, marks: data.marks, outline: data.lines ? { ...decoder.ownOutline, lines: data.lines } : decoder.ownOutline });
  Object.assign(explorer.controls, { x: data.x, y: data.y });
  explorer.update();
  explorer.told = (asked) => setStateValue("asked", asked);
  place.opened ??= openedBehind(place, open);
  return end;
};
