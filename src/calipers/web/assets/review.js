// Cards that are graded by key without a reload: conflicts that the owner settles, labels of one's own.
import { ask, byId, make, newRequest, say, typing } from "./common.js";

const list = byId("cards");
const pool = `/api/v1/pools/${list.dataset.pool}`;
const settles = Boolean(list.dataset.settles);
const cards = [...list.querySelectorAll("[data-item]")];
const buttons = (card) => [...card.querySelectorAll("button[data-grade]")];

// A request keeps its name when it is sent again after a lost answer, and is then known for the same.
const send = async (path, body) => {
  const named = { request: newRequest(), ...body };
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      const answer = await ask(path, named);
      say("");
      return answer;
    } catch (error) {
      if (error.status && ![429, 500, 502, 503, 504].includes(error.status)) throw error;
      say(`Not saved yet: ${error.status ? error.message : "The server cannot be reached."} It will be sent again.`);
      await new Promise((done) => { setTimeout(done, pause); });
    }
  }
};

const tell = (words) => { byId("told").textContent = words; };
const go = (card) => {
  if (!card) return;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
};
const here = () => (document.activeElement.closest ? document.activeElement.closest("[data-item]") : null);
const press = (card, value) => {
  for (const one of buttons(card)) one.setAttribute("aria-pressed", String(Number(one.dataset.grade) === value && value !== null));
};
const count = (name, step) => {
  if (!name) return;
  const place = document.querySelector(`[data-count="${name}"]`);
  place.textContent = (Number(place.textContent.replaceAll(",", "")) + step).toLocaleString("en");
};

const settle = async (card, value) => {
  const body = { item: Number(card.dataset.item), grade: value };
  const { conflict } = await send(`${pool}/settle`, body);
  const { standing, verdict } = conflict ?? { standing: "settled", verdict: `Counts as ${value}.` };
  count(card.dataset.standing ?? document.querySelector(".tabs [aria-current] [data-count]").dataset.count, -1);
  count(standing, 1);
  card.dataset.standing = standing;
  card.querySelector(".verdict").textContent = verdict;
  card.querySelector(".again").hidden = value === null;
  tell(verdict);
};

const change = async (card, value) => {
  const { key, quote, quoteStart } = card.dataset;
  await send(`${pool}/labels`, {
    judge: list.dataset.judge, item: Number(card.dataset.item), shown: key, kind: "label", grade: value,
    ...(quote ? { quote } : {}), ...(quoteStart ? { quote_start: Number(quoteStart) } : {}),
  });
  card.querySelector(".badge").textContent = `${value}, changed now`;
  tell(`Saved: ${value}.`);
};

const grade = async (card, value, moves) => {
  const before = buttons(card).find((one) => one.getAttribute("aria-pressed") === "true");
  press(card, value);
  card.setAttribute("aria-busy", "true");
  // The next one is shown at once; whether this one was saved is said beside it.
  if (moves && settles) go(cards[cards.indexOf(card) + 1]);
  try {
    await (settles ? settle(card, value) : change(card, value));
  } catch (error) {
    press(card, before ? Number(before.dataset.grade) : null);
    say(`Not saved: ${error.message}`);
    go(card);
  }
  card.removeAttribute("aria-busy");
};

const reopen = (card) => { if (!card.querySelector(".again").hidden) grade(card, null, false); };

if (!list.dataset.closed) {
  for (const place of list.querySelectorAll(".settle, .note-line")) place.hidden = false;
  for (const place of list.querySelectorAll(".without-script")) place.hidden = true;
}
list.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  const card = event.target.closest("[data-item]");
  if (!card || !button) return;
  if (button.classList.contains("again")) reopen(card);
  else if (button.dataset.grade) grade(card, Number(button.dataset.grade), false);
});
list.addEventListener("submit", async (event) => {
  event.preventDefault();
  const card = event.target.closest("[data-item]");
  const note = event.target.querySelector("textarea").value.trim();
  if (!note) return;
  try {
    await send(`${pool}/labels`, { judge: list.dataset.judge, item: Number(card.dataset.item), shown: card.dataset.key, kind: "note", note });
    tell("Note saved.");
    event.target.querySelector("button").textContent = "Saved";
    go(card);
  } catch (error) {
    say(`Not saved: ${error.message}`);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && here()) {
    go(here());
    return;
  }
  if (typing(event) || event.repeat) return;
  const at = cards.indexOf(here());
  if (event.key === "j") go(cards[Math.min(at + 1, cards.length - 1)]);
  else if (event.key === "k") go(cards[Math.max(at - 1, 0)]);
  else if (here() && event.key === "c" && here().querySelector(".note-line")) {
    event.preventDefault();
    here().querySelector(".note-line textarea").focus();
  } else if (here() && event.key === "o" && settles && here().querySelector(".again")) reopen(here());
  else if (here() && !list.dataset.closed) {
    const button = buttons(here()).find((one) => one.dataset.keys.split(" ").includes(event.key));
    if (!button) return;
    event.preventDefault();
    grade(here(), Number(button.dataset.grade), true);
  }
});
