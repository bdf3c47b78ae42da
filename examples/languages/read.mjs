// Read what the gate decided, such as for a message to the team:
//   calipers gate questions.csv --retriever 'cmd:node search.mjs' --require 'recall@2 >= 0.7' --json | node read.mjs
// The form is that of schemas/gate.json in the package; new keys may appear, so read by name.
import { readFileSync } from "node:fs";

const verdict = JSON.parse(readFileSync(0, "utf8"));
if (verdict.schema !== 1) throw new Error(`The form ${verdict.schema} is not known here.`);
for (const check of verdict.checks) console.log(`${check.status}: ${check.name}`);
console.log(verdict.passed ? "May be merged." : "May not be merged.");
