// What the page answers: for the values in a form, what `predict` and `explain` say of such a row.
//
// A type, the truth values of a model's attributes, is a BigInt with a bit for each, as in Python.
// Beside each form is a block of JSON; names from the data are put on the page as text only.
"use strict";

const MOST_STEPS = 10000; // Changes that are examined in search of the smallest.
const MOST_GUESSES = 100; // Changes that are then made larger until they turn the answer.

// Return a block as it is used: masks and types, which JSON holds as texts, are BigInts.
function read(text) {
  const asked = JSON.parse(text);
  for (const field of asked.fields) {
    for (const option of field.options || []) option.bits = option.bits.map(BigInt);
  }
  for (const model of asked.models) {
    for (const term of model.terms) [term.care, term.value] = [BigInt(term.care), BigInt(term.value)];
    for (const column of model.columns) {
      column.mask = BigInt(column.mask);
      column.words = new Map(column.states.map((state, at) => [BigInt(state), column.words[at]]));
      column.states = column.states.map(BigInt);
    }
    for (const line of model.lines) {
      for (const condition of line.conditions) {
        condition.mask = BigInt(condition.mask);
        condition.states = new Set(condition.states.map(BigInt));
      }
    }
    model.rows = new Map(model.counts.map(([type, n, c]) => [BigInt(type), [n, c]]));
    model.conjunctions = model.terms.flatMap(multipliedOut);
  }
  return asked;
}

// Return the truth values of a model's attributes. The value of a field is a number, null where it
// is missing, or the place of an option.
function codeOf(asked, at, values) {
  let code = 0n;
  asked.fields.forEach((field, place) => {
    const value = values[place];
    if (field.options) {
      code |= field.options[value].bits[at];
      return;
    }
    for (const test of field.tests) {
      if (test.model === at && holdsFor(test, value)) code |= 1n << BigInt(test.bit);
    }
  });
  return code;
}

function holdsFor(test, value) {
  if (test.missing || value === null) return Boolean(test.missing) && value === null;
  return (test.low === null || value > test.low) && (test.high === null || value <= test.high);
}

// Return the field and the value for which a condition holds, or does not, and that changes as few
// attributes as possible; null if there is none.
function fitting(asked, at, values, {mask, states}, wanted) {
  const code = codeOf(asked, at, values);
  let best = null;
  asked.fields.forEach((field, place) => {
    const candidates = field.options ? field.options.keys() : field.candidates;
    for (const value of candidates) {
      const typed = values.map((own, field) => (field === place ? value : own));
      const changed = codeOf(asked, at, typed) ^ code;
      if (!(changed & mask) || states.has((code ^ changed) & mask) !== wanted) continue;
      const size = bitCount(changed);
      if (best === null || size < best.size) best = {place, value, size};
    }
  });
  return best;
}

function bitCount(bits) {
  let count = 0;
  for (; bits; bits &= bits - 1n) count += 1;
  return count;
}

function signsOf(term, code) {
  return bitCount(~(code ^ term.value) & term.care);
}

function termHolds(term, code) {
  return term.least === null ? (code & term.care) === term.value : signsOf(term, code) >= term.least;
}

// Return what tells rows apart: their attributes, which lines hold, or how many signs do.
function typeOf(model, code) {
  if (model.types === "attributes") return code;
  if (model.types === "signs") return (1n << BigInt(signsOf(model.terms[0], code))) - 1n;
  return model.terms.reduce((type, term, i) => (termHolds(term, code) ? type | (1n << BigInt(i)) : type), 0n);
}

// Return the answer of one formula for the rows of a code, and the rows that it rests on.
function answerOf(model, code) {
  const terms = model.terms.flatMap((term, i) => (termHolds(term, code) ? [i] : []));
  const accepted = terms.length > 0 === model.answer;
  const [n, c] = model.rows.get(typeOf(model, code)) || [0, 0];
  const smoothed = (c + model.unit) / (n + 2 * model.unit);
  // Where smoothing would cross the threshold, the value stops right next to it.
  const probability = accepted ? Math.max(smoothed, model.above) : Math.min(smoothed, model.below);
  return {code, accepted, probability, n, c, terms};
}

// Return which label a row gets, and its share: the greatest probability over its formula's
// threshold, the first of several. A single formula answers by itself.
function chosenOf(asked, answers) {
  if (answers.length === 1) return {at: 0, probability: answers[0].probability};
  const relative = new Set(asked.models.map((model) => model.threshold)).size > 1;
  const values = answers.map((answer, i) => answer.probability / (relative ? asked.models[i].threshold : 1));
  const at = values.indexOf(Math.max(...values));
  return {at, probability: values[at] / values.reduce((sum, value) => sum + value)};
}

// Return the conjunctions of which one must hold for a term to hold.
function multipliedOut(term) {
  if (term.least === null) return [term];
  const bits = [];
  for (let i = 0n; term.care >> i; i += 1n) if ((term.care >> i) & 1n) bits.push(1n << i);
  const found = [];
  const choose = (from, left, care) => {
    if (!left) found.push({care, value: term.value & care, least: null});
    else for (let i = from; i <= bits.length - left; i += 1) choose(i + 1, left - 1, care | bits[i]);
  };
  choose(0, term.least, 0n);
  return found;
}

// Return the key by which changes are compared: how many attributes change, then how many columns,
// then their ranks.
function sizeOf(changed, columns) {
  const ranks = [];
  for (let i = 0; changed >> BigInt(i); i += 1) if ((changed >> BigInt(i)) & 1n) ranks.push(i);
  const touched = columns.filter((column) => changed & column.mask).length;
  return [ranks.length, touched, ...ranks];
}

function compareSizes(one, other) {
  for (let i = 0; i < Math.min(one.length, other.length); i += 1) {
    if (one[i] !== other[i]) return one[i] - other[i];
  }
  return one.length - other.length;
}

function smallest(types, code, columns) {
  let [best, size] = [null, null];
  for (const type of types) {
    const own = sizeOf(code ^ type, columns);
    if (size === null || compareSizes(own, size) < 0) [best, size] = [type, own];
  }
  return best;
}

// Return the type after the smallest change that turns the answer, or null, and whether it is
// proven to be the smallest.
function smallestFlip(model, code) {
  const {conjunctions, columns} = model;
  if (conjunctions.some((term) => (code & term.care) === term.value)) return nearestRejected(model, code);
  const found = conjunctions.map((term) => nearestAccepted(term, columns, code)).filter((after) => after !== null);
  return {after: smallest(found, code, columns), proven: true};
}

function nearestAccepted(term, columns, code) {
  for (const column of columns) {
    const care = term.care & column.mask;
    if (!((code ^ term.value) & care)) continue;
    const before = code & column.mask;
    const fitting = column.states.filter((state) => !((state ^ term.value) & care));
    const state = smallest(fitting, before, [column]);
    if (state === null) return null;
    code ^= before ^ state;
  }
  return code;
}

// Best first: while a term holds, some column of it must change that has not been changed yet, so
// the first type for which none holds is the nearest.
function nearestRejected({conjunctions, columns}, code) {
  const shortestFirst = [...conjunctions].sort((one, other) => bitCount(one.care) - bitCount(other.care));
  const holding = (now) => shortestFirst.find((term) => (now & term.care) === term.value);
  const next = (now, term) =>
    columns
      .filter((column) => term.care & column.mask && !((now ^ code) & column.mask))
      .flatMap((column) =>
        column.states
          .filter((state) => (state ^ term.value) & term.care & column.mask)
          .map((state) => (now & ~column.mask) | state),
      );
  const queue = new Queue();
  queue.push({size: sizeOf(0n, columns), type: code});
  const met = new Set([code]);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const first = queue.pop();
    if (!first) return {after: null, proven: true};
    const term = holding(first.type);
    if (!term) return {after: first.type, proven: true};
    for (const after of next(first.type, term)) {
      if (met.has(after)) continue;
      met.add(after);
      queue.push({size: sizeOf(code ^ after, columns), type: after});
    }
  }
  const enlarged = ({type}) => {
    for (let term = holding(type); term; term = holding(type)) {
      type = smallest(next(type, term), code, columns);
      if (type === null) return null;
    }
    return type;
  };
  const guesses = queue.inOrder().slice(0, MOST_GUESSES).map(enlarged);
  return {after: smallest(guesses.filter((after) => after !== null), code, columns), proven: false};
}

// Changes, the smallest first; of two that change as much, the one to the lower type.
class Queue {
  constructor() {
    this.heap = [];
  }

  static before(one, other) {
    const order = compareSizes(one.size, other.size);
    return order < 0 || (order === 0 && one.type < other.type);
  }

  push(change) {
    const {heap} = this;
    let at = heap.push(change) - 1;
    for (let up = (at - 1) >> 1; at && Queue.before(change, heap[up]); up = (at - 1) >> 1) {
      [heap[at], heap[up]] = [heap[up], change];
      at = up;
    }
  }

  pop() {
    const {heap} = this;
    const first = heap[0];
    const last = heap.pop();
    if (!heap.length) return first;
    heap[0] = last;
    for (let at = 0, down = 1; down < heap.length; down = 2 * at + 1) {
      if (down + 1 < heap.length && Queue.before(heap[down + 1], heap[down])) down += 1;
      if (!Queue.before(heap[down], heap[at])) break;
      [heap[at], heap[down]] = [heap[down], heap[at]];
      at = down;
    }
    return first;
  }

  inOrder() {
    return [...this.heap].sort((one, other) => (Queue.before(one, other) ? -1 : 1));
  }
}

// ---------------------------------------------------------------------------- on the page

const rounded = (number, digits) =>
  number.toLocaleString("en", {minimumFractionDigits: digits, maximumFractionDigits: digits});
const percent = (share) => `${rounded(100 * share, 1)} %`;
const counted = (number) => number.toLocaleString("en", {maximumFractionDigits: 3});

// Make a form live: whatever is typed or chosen in it is answered at once.
function makeLive(form) {
  const asked = read(form.querySelector("script").textContent);
  const inputs = [...form.querySelectorAll("[data-field]")];
  const renew = () => show(form, asked, inputs.map(valueOf));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.type === "checkbox") typeTicked(asked, inputs, event.target);
    renew();
  });
  form.addEventListener("reset", () => setTimeout(renew));
  renew();
}

// Type a value for which a sign holds that was ticked, or does not hold that was cleared.
function typeTicked(asked, inputs, box) {
  const [part, item, mark] = ["[data-model]", "[data-line]", "[data-condition]"].map((own) => box.closest(own));
  const at = Number(part.dataset.model);
  const line = asked.models[at].lines[Number(item.dataset.line)];
  const condition = line.conditions[Number(mark.dataset.condition)];
  const found = fitting(asked, at, inputs.map(valueOf), condition, box.checked);
  if (!found) return;
  const input = inputs[found.place];
  if (input.tagName === "SELECT") input.selectedIndex = found.value;
  else input.value = found.value === null ? "" : String(found.value);
}

function valueOf(input) {
  if (input.tagName === "SELECT") return input.selectedIndex;
  return input.value === "" ? null : Number(input.value);
}

function show(form, asked, values) {
  const answers = asked.models.map((model, at) => answerOf(model, codeOf(asked, at, values)));
  const {at: chosen, probability} = chosenOf(asked, answers);
  const model = asked.models[chosen];
  const answer = answers[chosen];
  const verdict = form.querySelector(".verdict");
  verdict.textContent = answer.accepted || answers.length > 1 ? model.yes : model.no;
  form.querySelector(".of").textContent = model.yes;
  showProbability(form, probability);
  form.querySelector(".rests").textContent = restsOn(asked, model, answer);
  form.querySelectorAll("[data-model]").forEach((part) => {
    const at = Number(part.dataset.model);
    showFormula(part, asked.models[at], answers[at]);
  });
  const change = form.querySelector(".change");
  if (change) showChange(change, model, answer);
}

// Say how probable the answer is, and how many of the rows learned from that rests on.
function restsOn(asked, model, {n, c}) {
  const weight = (units) => counted(units / model.unit);
  const all = `${weight(model.total)} ${asked.weighted ? "of weight" : "rows"} learned from`;
  if (!n) return `No row like this one is among the ${all}: the formula alone decides.`;
  if (asked.weighted) return `Rows like this one weigh ${weight(n)} of ${all}; ${percent(c / n)} ${model.counted}.`;
  const one = n === model.unit;
  const share = one ? `it was ${c ? "" : "not "}${model.counted}` : `${weight(c)} of them (${percent(c / n)}) ${model.counted}`;
  return `${weight(n)} of the ${all} ${one ? "is" : "are"} like this one; ${share}.`;
}

function showProbability(part, probability) {
  const place = part.querySelector("data");
  if (!place) return;
  place.value = probability;
  place.textContent = percent(probability);
}

// Mark the lines that hold, and in each the conditions that do.
function showFormula(part, model, answer) {
  showProbability(part, answer.probability);
  part.querySelectorAll("[data-line]").forEach((item) => {
    const line = model.lines[Number(item.dataset.line)];
    const held = line.terms.some((term) => answer.terms.includes(term));
    item.classList.toggle("held", held);
    let missed = 0;
    item.querySelectorAll("[data-condition]").forEach((mark) => {
      const {mask, states} = line.conditions[Number(mark.dataset.condition)];
      const met = states.has(answer.code & mask);
      missed += !met;
      const box = mark.querySelector("input");
      if (box) {
        box.checked = met;
        return;
      }
      mark.classList.toggle("met", met);
      mark.querySelector(".mark").textContent = met ? "✓" : "✗";
      mark.querySelector(".unseen").textContent = met ? "holds: " : "does not hold: ";
    });
    item.querySelector(".held-or-not").textContent = lineWords(line, held, missed);
  });
}

function lineWords(line, held, missed) {
  const met = line.conditions.length - missed;
  if (line.least !== null) return `${met} of ${line.conditions.length} hold, ${line.least} are needed`;
  if (held) return "holds";
  return missed ? `misses ${missed} of ${line.conditions.length}` : "does not hold";
}

function showChange(part, model, answer) {
  const {after, proven} = smallestFlip(model, answer.code);
  const other = answer.accepted ? model.no : model.yes;
  const head = part.querySelector("p");
  const list = part.querySelector("ul");
  list.replaceChildren();
  if (after === null) {
    head.textContent = proven ? "No change would turn the answer." : "No change was found that turns the answer.";
    return;
  }
  head.textContent = proven ? `The smallest change that gives ${other}:` : `A change that gives ${other}; there may be a smaller one:`;
  for (const column of model.columns) {
    if (!((after ^ answer.code) & column.mask)) continue;
    const item = document.createElement("li");
    item.textContent = column.words.get(after & column.mask);
    list.append(item);
  }
}

// Show one panel of a slider, the one at its place.
function makeSlider(part) {
  const input = part.querySelector("input");
  const panels = [...part.querySelectorAll(":scope > .panel")];
  const renew = () => {
    const shown = panels[input.valueAsNumber];
    panels.forEach((panel) => panel.toggleAttribute("hidden", panel !== shown));
    if (shown.tagName === "DETAILS") shown.open = true;
    part.querySelector("output").textContent = shown.dataset.panel;
    input.setAttribute("aria-valuetext", shown.dataset.panel);
  };
  input.addEventListener("input", renew);
  renew();
}

// Return what a cell is sorted by: its number, or its text; what is empty comes last.
function sortKey(cell) {
  const text = cell.textContent.trim();
  const number = Number.parseFloat(text.replaceAll(",", "").replace("−", "-"));
  return {text, number: Number.isNaN(number) ? null : number};
}

function compareKeys(one, other, down) {
  if (!one.text || !other.text) return Number(!one.text) - Number(!other.text);
  const numbers = one.number !== null && other.number !== null;
  const order = numbers ? one.number - other.number : one.text.localeCompare(other.text);
  return down ? -order : order;
}

// Let a table be sorted by any of its columns: a button in each head, a second press turns it round.
function makeSortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 3) return;
  heads.forEach((head, column) => {
    const told = (cell) => cell && cell.textContent.trim();
    if (!told(head) || ![...body.rows].some((row) => told(row.cells[column]))) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
      keyed.sort(([one], [other]) => compareKeys(one, other, down));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}

function start() {
  document.querySelectorAll("form.what-if").forEach(makeLive);
  document.querySelectorAll("[data-live]").forEach((part) => part.removeAttribute("hidden"));
  document.querySelectorAll(".slider").forEach(makeSlider);
  document.querySelectorAll("table:not(.facts, .shaded, .glance)").forEach(makeSortable);
}

if (typeof document !== "undefined") start();
