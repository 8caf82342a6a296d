// The coins of a report, flipped here. The same whole numbers as in core/privacy/noise/responses.py, word for word.
"use strict";
const UNIT = 1n << 32n, WORD = 1n << 64n;

// Words of 64 random bits from the browser's own generator.
const randomWords = (count) => Array.from(crypto.getRandomValues(new BigUint64Array(count)));

// A uniform whole number below the bound: the upper half of word × bound, unless the word must be drawn again.
function below(bound, words) {
  for (;;) {
    const product = words(1)[0] * bound;
    if (product % WORD >= WORD % bound) return product / WORD;
  }
}

// A place among those that speak for the truth, or -1n; how often is what epsilon decides.
function picked(supporting, outcomes, surplus, words) {
  const favoured = supporting * surplus, number = below(favoured + outcomes * UNIT, words);
  return number < favoured ? [number / surplus, 0n] : [-1n, (number - favoured) >> 32n];
}

// Floyd's algorithm: a uniform set of a size, with a forced member unless that is -1n.
function subset(domain, size, forced, words) {
  const held = forced >= 0n ? 1 : 0, count = domain - held;
  again: for (;;) {
    const drawn = words(size), chosen = new Set();
    for (let k = 0; k < size - held; k++) {
      const last = BigInt(count - size + held + k), bound = last + 1n, product = drawn[k] * bound;
      if (product % WORD < WORD % bound) continue again;
      const at = product / WORD, moved = held && at >= forced ? at + 1n : at;
      chosen.add(chosen.has(moved) ? (held && last >= forced ? last + 1n : last) : moved);
    }
    if (held) chosen.add(forced);
    return chosen;
  }
}

// The report of an answer, by its place in the list, as whole numbers.
function report(survey, answer, words = randomWords) {
  const surplus = BigInt(survey.surplus), domain = survey.answers.length, own = BigInt(answer);
  if (survey.oracle.name === "de") {
    const [place, anything] = picked(1n, BigInt(domain), surplus, words);
    return [place === 0n ? own : anything];
  }
  const size = survey.oracle.parameters.size;
  const [place] = picked(BigInt(size), BigInt(domain), surplus, words);
  const told = Array(Math.ceil(domain / 64)).fill(0n);
  for (const value of subset(domain, size, place >= 0n ? own : -1n, words)) told[value >> 6n] |= 1n << (value & 63n);
  return told;
}

// Which answers a report names.
function named(survey, told) {
  if (survey.oracle.name === "de") return [survey.answers[Number(told[0])]];
  return survey.answers.filter((_, place) => (told[place >> 6] >> BigInt(place & 63)) & 1n);
}
