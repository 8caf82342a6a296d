// Asks release files by the JavaScript reader: a question a line on standard input, all answers as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Comparison, open, openLocal, openModel, ReaderError } = await import(pathToFileURL(process.argv[2]));
const plain = (numbers) => Array.from(numbers, (one) => (Number.isFinite(one) ? one : String(one)));
const opened = new Map();

const answered = async ({ file, ways, model, part, run, group, bandwidth, queries, across, sums, other, compared }) => {
  if (ways) {
    const reports = await openLocal(new Uint8Array(readFileSync(file)));
    return ways.map((way) => Object.values(reports.table(way)).map(plain));
  }
  if (model) {
    const made = openModel(new Uint8Array(readFileSync(file)));
    return made.categories.length ? made.probabilities(queries) : made.predicted(queries).map((one) => plain([one.predicted, one.low, one.high]));
  }
  if (!opened.has(file)) opened.set(file, open(new Uint8Array(readFileSync(file))));
  let release = await opened.get(file);
  if (part) release = release.part(part);
  if (run) release = release.run(run);
  if (group) release = release.ofClass(group);
  if (bandwidth) release = release.smoothed(bandwidth);
  const facts = { records: release.records, error: plain([release.recordsError])[0] };
  if (other) {
    const difference = new Comparison(release, await open(new Uint8Array(readFileSync(other))));
    return compared.map(([name, ...rest]) => Object.fromEntries(["est", "low", "high"].map((end) => [end, plain(difference[name](...rest)[end])])));
  }
  if (sums) {
    const { terms, matrix, error } = release.sums();
    return { names: terms.map(({ column, category }) => [column, category]), matrix: matrix.map(plain), deviation: error };
  }
  if (!queries && !across) return facts;
  const answers = across ? release.across(across) : release.answer(queries);
  return Object.assign(facts, ...Object.entries(answers).map(([name, numbers]) => ({ [name]: plain(numbers) })));
};

const found = [];
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  try {
    found.push(await answered(JSON.parse(line)));
  } catch (problem) {
    if (!(problem instanceof ReaderError)) throw problem;
    found.push({ refused: problem.message });
  }
}
writeFileSync(1, JSON.stringify(found));
