// A released table inside a page of another program, such as the app: what is handed over, and what is told.
import { fromBase64, populationOf, unzipped } from "./bytes.js";
import { Overview } from "./overview.js";
import { openRelease } from "../../../readers/javascript/release.js";

/**
 * Draws a released table, once for each `identity`, and gives back what takes it away.
 *
 * Handed over is `shared_page.inside`: the `file`, its `name`, what it does not say of itself (`facts`, packed JSON), and
 * the `identity` of what is asked; and the `view` to begin with, as `Overview.view` writes it, or `alone` where the first
 * picture is all that is wanted. Told is the state "view", whenever a visitor's touch is done. Nothing else leaves the
 * page: every picture is worked out here.
 * @param {{data: {identity: string, name: string, facts: string, file: string, view: string, alone: boolean},
 *   parentElement: ParentNode, setStateValue: (name: string, value: string) => void}} given
 */
export const inside = async ({ data, parentElement, setStateValue }) => {
  const place = /** @type {any} */ (parentElement.querySelector(".inside")); // with what is kept on it between runs
  place.tell = (view) => setStateValue("view", view); // of this run: it knows whom to tell
  const end = () => place.isConnected || place.end?.(); // a run that comes late ends nothing that is on show
  if (place.identity === data.identity) return end;
  place.end?.();
  place.identity = data.identity;
  const [facts, opened] = [await unzipped(data.facts), await openRelease(fromBase64(data.file))];
  if (place.identity !== data.identity) return end; // another one was asked for meanwhile
  let known = data.view;
  const tables = populationOf(facts, opened).tables(0.95, facts.known);
  const overview = new Overview(facts, tables, data.name, (view) => {
    if (view !== known && !data.alone) place.tell(known = view);
  });
  if (data.alone) overview.only = overview.map ? "map" : `c${overview.cards[0].place}`;
  else overview.view = data.view;
  place.classList.toggle("alone", data.alone);
  place.end = () => overview.listening.abort();
  place.replaceChildren(overview.whole);
  overview.start();
  place.overview = overview;
  return end;
};
