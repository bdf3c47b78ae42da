// A search function for Calipers in TypeScript's language: a program that answers JSON lines, or
// with a port an HTTP server.
//   calipers retrieve 'cmd:node search.mjs' questions.csv -k 2 --check
//   node search.mjs 8080
//   calipers retrieve 'http://127.0.0.1:8080/search?q={query}&k={k}' questions.csv -k 2 --check
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const documents = {
  account: "Forgot your password? Follow the link where you sign in.",
  contact: "Write to us, or call on weekdays from 9 to 5.",
  refunds: "Send the item back within 30 days and you get your money back.",
  shipping: "Delivery abroad takes one to two weeks.",
};

const words = (/** @type {string} */ text) => new Set(text.toLowerCase().match(/[a-z]+/g));

/** The k best documents, the best first. Put a call of your own search here.
 * @param {string} query
 * @param {number} k
 * @returns {{ id: string, score: number }[]} */
function search(query, k) {
  const asked = words(query);
  return Object.entries(documents)
    .map(([id, text]) => ({ id, score: [...words(text)].filter((one) => asked.has(one)).length }))
    .sort((a, b) => b.score - a.score)
    .slice(0, k);
}

const port = process.argv[2];
if (port) {
  createServer((request, response) => {
    const asked = new URL(request.url ?? "/", "http://localhost").searchParams;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(search(asked.get("q") ?? "", Number(asked.get("k") ?? 10))));
  }).listen(Number(port), "127.0.0.1");
} else {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, query, k } = JSON.parse(line); // {"id": "q1", "query": "When can I call you?", "k": 2}
    console.log(JSON.stringify({ id, retrieved: search(query, k) }));
  }
}
