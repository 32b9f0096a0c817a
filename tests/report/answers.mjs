// Runs vectors.json, or the file that is named, through the page's script, and prints how the answers differ.
import {readFileSync} from "node:fs";
import {runInThisContext} from "node:vm";

const [script, file] = process.argv.slice(2);
runInThisContext(readFileSync(script, "utf-8"));
let [answered, wrong] = [0, 0];
for (const {name, form, labels, rows, said} of JSON.parse(readFileSync(file, "utf-8"))) {
  const asked = read(JSON.stringify(form));
  rows.forEach((values, at) => {
    const answers = asked.models.map((model, i) => answerOf(model, codeOf(asked, i, values)));
    const formulas = answers.map(({code, accepted, probability, n, c, terms}, i) => {
      const {after, proven} = smallestFlip(asked.models[i], code);
      const hex = after === null ? null : `0x${after.toString(16)}`;
      return {accepted, probability, n, c, terms, after: hex, proven};
    });
    const {at: chosen, probability} = chosenOf(asked, answers);
    const prediction = answers.length > 1 ? labels[chosen] : answers[0].accepted;
    const found = {prediction, probability, formulas};
    answered += 1;
    if (JSON.stringify(found) !== JSON.stringify(said[at])) {
      wrong += 1;
      if (wrong < 4) console.log(name, JSON.stringify({values, found, said: said[at]}));
    }
  });
}
console.log(`${answered} answered, ${wrong} wrong`);
