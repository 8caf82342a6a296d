// Counted local reports: how many gave each answer, estimated here from the sums in the file.
import { element, plainTable, put, selectOf } from "./canvas.js";
import { shareDigits, shareMarks, shareWords, significant, told } from "./numbers.js";
import { bandRows, hatchPattern, roundedUp } from "./pictures.js";
import { csvOf } from "./take.js";

const MOST_BARS = 40; // Answers drawn; of more, those with the largest estimates.

export class Reports {
  found; reports; shown; ways;

  /** `reports`: as the reader opens them; `ways` to make estimates plausible, each with its name and what may be read then. */
  constructor(reports, ways) {
    Object.assign(this, { reports, ways, way: 0 });
    this.says = element("p", { class: "odds", role: "status" });
    this.place = element("div", { class: "picture groups" });
    this.note = element("p", { class: "note" });
    this.behind = element("details", { class: "behind", ontoggle: () => this.fillTable() }, element("summary", {}, "Table"));
    const choice = selectOf("Estimates", ways.map(([name]) => name), 0, (way) => { this.way = way; this.update(); });
    this.parts = [...(ways.length > 1 ? [element("div", { class: "fields controls" }, choice)] : []), this.says, this.place, this.behind, this.note, hatchPattern()];
    for (const event of ["resize", "beforeprint", "afterprint"]) addEventListener(event, () => this.draw());
  }

  update() {
    const { people, answers } = this.reports;
    const [, way, words] = this.ways[this.way];
    const table = this.reports.table(way);
    const [est, low, high] = [table.estimate, table.low, table.high].map((ends) => ends.map((one) => one / people));
    this.found = { est, low, high };
    const falling = Array.from(est.keys()).sort((a, b) => est[b] - est[a]);
    this.shown = answers.length > MOST_BARS ? falling.slice(0, MOST_BARS) : Array.from(est.keys());
    const first = falling.find((i) => told(low[i]));
    const hidden = low.filter((one) => !told(one)).length;
    put(this.says, first === undefined ? "The noise hides all answers." : `Most often ${answers[first]}: ${shareWords(this.found, first)} of all reports. `
      + `The noise hides ${hidden ? `${hidden.toLocaleString("en-GB")} of ${answers.length.toLocaleString("en-GB")}` : "none of the"} answers.`);
    this.note.textContent = [...(answers.length > MOST_BARS ? [`The ${MOST_BARS} largest of ${answers.length.toLocaleString("en-GB")} answers are drawn; the table has all.`] : []), words].join(" ");
    this.draw();
    this.fillTable();
  }

  draw() {
    if (!this.found || !this.place.clientWidth) return;
    const { low, high, est } = this.found;
    const rows = this.shown.map((i) => ({ name: this.reports.answers[i], bar: true, est: est[i], low: low[i], high: high[i], value: shareDigits(this.found, i) }));
    const most = roundedUp(Math.max(0.01, ...rows.map((row) => row.high)));
    this.place.replaceChildren(bandRows(this.place.clientWidth, rows, 0, most, (count) => shareMarks(0, most, count)));
  }

  fillTable() {
    if (!this.behind.open) return;
    const { answers, people } = this.reports;
    const rows = answers.map((answer, i) => [answer, shareWords(this.found, i), `about ${significant(this.found.est[i] * people, 3)}`]);
    this.behind.replaceChildren(this.behind.firstElementChild, plainTable("Answers", ["Answer", "Share of all reports", "People"], rows));
  }

  /** All answers by the chosen way, as a table. */
  get csv() {
    const { answers } = this.reports;
    const { estimate, low, high } = this.reports.table(this.ways[this.way][1]);
    return csvOf(["value", "estimate", "low", "high"], answers.map((answer, i) => [answer, estimate[i], low[i], high[i]]));
  }
}
