// What the pages share: asking the API, and moving through a list with the keyboard.

export const byId = (id) => document.getElementById(id);

// Text only ever becomes text nodes: nothing in it can become markup.
export const make = (tag, classes, ...children) => {
  const one = document.createElement(tag);
  if (classes) one.className = classes;
  for (const child of children) if (child !== null && child !== undefined) one.append(child);
  return one;
};

export class Refused extends Error {
  constructor(status, words, said = {}) {
    super(words);
    Object.assign(this, { status, said });
  }
}

export const ask = async (path, body) => {
  const options = { credentials: "same-origin", headers: { accept: "application/json" } };
  if (body !== undefined) {
    options.method = "POST";
    options.headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const answer = await fetch(path, options);
  const said = await answer.json().catch(() => ({ error: "The server gave no readable answer." }));
  if (!answer.ok) throw new Refused(answer.status, said.error || `The server said ${answer.status}.`, said);
  return said;
};

// Keys of one letter can be switched off: who dictates or whose hand shakes presses some unawares.
const OFF = "calipers-single-keys-off";
const kept = () => {
  try {
    return localStorage;
  } catch {
    return new Map();
  }
};
const keysAreOff = () => kept()[OFF] === "1";
for (const box of document.querySelectorAll("input.single-keys")) {
  box.closest("p").hidden = false;
  box.checked = !keysAreOff();
  box.addEventListener("change", () => {
    if (box.checked) delete kept()[OFF];
    else kept()[OFF] = "1";
    document.body.classList.toggle("no-keys", !box.checked);
  });
}
document.body.classList.toggle("no-keys", keysAreOff());

// The key by its place where the keyboard writes another script: м and ١ are m and 1 there.
export const keyOf = (event) => {
  if (!/^[^\x00-\x7f]$/u.test(event.key)) return event.key;
  const [, letter, digit] = /^(?:Key([A-Z])|(?:Digit|Numpad)(\d))$/.exec(event.code) || [];
  if (digit && /\p{Nd}/u.test(event.key)) return digit;
  return letter && /\p{L}/u.test(event.key) ? (event.shiftKey ? letter : letter.toLowerCase()) : event.key;
};

// Whether a key is not meant as one of ours.
export const typing = (event) =>
  keysAreOff() || event.ctrlKey || event.metaKey || event.altKey ||
  (event.target.closest && event.target.closest("input, textarea, select, dialog[open]"));

// A name for a request: sent again after a lost answer, it is known for the same.
export const newRequest = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((one) => one.toString(16).padStart(2, "0")).join("");
};

export const say = (words) => {
  const place = byId("said");
  place.textContent = words;
  place.hidden = !words;
};

// Put the results to some questions into a pool, and go there.
export const judgeThese = async (of, queries, metric, first) => {
  try {
    const made = await ask("/api/v1/pools", { of, queries, metric });
    const query = first === undefined ? "" : `?query=${encodeURIComponent(first)}`;
    location.assign(made.page + query);
  } catch (error) {
    say(error.message);
  }
};

// Every "Judge this" works, and is shown only where it can.
export const judgeButtons = () => {
  for (const button of document.querySelectorAll("button.judge-this")) {
    button.hidden = false;
    button.addEventListener("click", () =>
      judgeThese([button.dataset.of], [button.dataset.query], button.dataset.metric,
        button.dataset.query));
  }
};

// j and k move over the rows, / goes to the search field, a filter that is changed is applied.
export const listKeys = () => {
  const rows = () => [...document.querySelectorAll("#queries a.open")];
  document.addEventListener("keydown", (event) => {
    if (typing(event)) return;
    const key = keyOf(event);
    if (key === "/") {
      event.preventDefault();
      byId("text").focus();
    } else if (key === "j" || key === "k") {
      const all = rows();
      const at = all.indexOf(document.activeElement);
      const next = key === "j" ? Math.min(at + 1, all.length - 1) : Math.max(at - 1, 0);
      if (all[next]) all[next].focus();
    }
  });
  const form = byId("filters");
  if (form) form.addEventListener("change", (event) => {
    if (event.target.matches("select, input[type=checkbox]")) form.requestSubmit();
  });
  // What is not filled in stays out of the address.
  if (form) form.addEventListener("submit", () => {
    for (const one of form.elements) if (one.name && !one.value) one.disabled = true;
  });
  const opened = document.querySelector('#queries a.open[aria-expanded="true"]');
  if (opened) opened.focus({ preventScroll: true });
  const page = byId("judge-page");
  if (page) {
    page.hidden = false;
    page.addEventListener("click", () => judgeThese(JSON.parse(page.dataset.of),
      [...document.querySelectorAll("#queries tr.row")].map((one) => one.dataset.query),
      page.dataset.metric));
  }
};
