// Judging: one keystroke per label. A label counts as saved only when the server says that it is
// on disk; until then it stays in a queue here, which also outlives a reload.
import { ask, byId, make, newRequest, Refused, typing } from "./common.js";

const desk = byId("desk");
const api = `/api/v1/pools/${desk.dataset.pool}`;
const grades = desk.dataset.grades.split(",").map(Number);
const yesNo = desk.dataset.scale === "yes/no";
const words = yesNo ? ["no", "yes"] : ["useless", "touches it", "helps", "answers it"];
// Of one judge in one pool: another judge in the same browser must not send them.
const KEPT = `calipers-unsaved-${desk.dataset.pool}-${desk.dataset.judge}-`;

const state = { item: null, ahead: [], quote: null, sentence: -1, from: 0 };

// Labels on their way. Each is kept in the browser until it is on disk, so that a closed tab loses
// none; a second tab that sends the same one adds nothing, as a request has a name.

let sending = false;
const keep = (entry) => {
  try {
    localStorage.setItem(KEPT + entry.request, JSON.stringify(entry));
  } catch {
    // A browser that keeps nothing: then this tab alone has it.
  }
};
const forget = (entry) => {
  try {
    localStorage.removeItem(KEPT + entry.request);
  } catch {
    // Nothing was kept.
  }
};
const left = () => {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(KEPT))
      .map((key) => JSON.parse(localStorage.getItem(key))).sort((a, b) => a.at - b.at);
  } catch {
    return [];
  }
};
const waiting = left();
const status = (text, wrong = false) => {
  const place = byId("save");
  place.textContent = text;
  place.classList.toggle("wrong", wrong);
};

const reason = (error) => (error instanceof Refused ? error.message : "The server cannot be reached.");
// Cut short when the network is back.
const pauseFor = (time) => new Promise((done) => {
  setTimeout(done, time);
  addEventListener("online", done, { once: true });
});

const send = async () => {
  if (sending) return;
  sending = true;
  let pause = 500;
  while (waiting.length) {
    status(waiting.length > 1 ? `Saving ${waiting.length} …` : "Saving …");
    try {
      const { at, ...entry } = waiting[0];
      const answer = await ask(`${api}/labels`, entry);
      forget(waiting.shift());
      pause = 500;
      if (!waiting.length) arrived(answer);
    } catch (error) {
      if (error instanceof Refused && [400, 404, 413].includes(error.status)) {
        // The server will never take it: say so, and show what is to be judged.
        forget(waiting.shift());
        status(`Not saved: ${error.message}`, true);
        sending = false;
        await load();
        if (waiting.length) send();
        return;
      }
      // Whatever else it is (the server or its store is away, or somebody else signed in), the
      // labels are kept and sent again; their requests have names, so none counts twice.
      status(`Not saved yet: ${reason(error)} ${waiting.length} kept here and sent again.`, true);
      await pauseFor(pause);
      pause = Math.min(pause * 2, 8000);
    }
  }
  sending = false;
};

let latest = 0;
const queue = (entry) => {
  // Later than the one before, also within one tick of the clock: an undo must not overtake.
  latest = Math.max(Date.now(), latest + 1);
  const whole = { request: newRequest(), judge: desk.dataset.judge, ...entry, at: latest,
    ...(desk.dataset.query ? { query: desk.dataset.query } : {}) };
  keep(whole);
  waiting.push(whole);
  send();
};

const arrived = (answer) => {
  const saved = answer.saved;
  status(saved.kind === "undo" ? "Undone." : "Saved.");
  take(answer, saved.kind === "undo" ? saved.item : null);
  showMoved(answer.before);
};

// What is shown

const take = (answer, undone = null) => {
  byId("progress").max = Math.max(answer.progress.total, 1);
  byId("progress").value = answer.progress.done;
  const pace = answer.progress.per_minute
    ? `, ${answer.progress.per_minute.toFixed(1)} per minute, about ${Math.ceil(answer.progress.minutes_left)} min left` : "";
  byId("pace").textContent =
    `${answer.progress.labelled} labelled, ${answer.progress.skipped} skipped, ${answer.progress.remaining} left${pace}`;
  // A sample shows how wide its interval is; what a label moved would sway who judges it.
  if (answer.sample) byId("sample").textContent = answer.sample;
  byId("place").textContent = `${answer.progress.place} of ${answer.progress.total}`;
  let next = answer.next;
  if (undone !== null) next = [...next].sort((a, b) => (b.item === undone) - (a.item === undone));
  state.ahead = next.slice(1);
  // What is on the screen already is not drawn again: a selection in it would be lost.
  if (!next.length) show(null);
  else if (!state.item || state.item.item !== next[0].item) show(next[0]);
};

const show = (item) => {
  state.item = item;
  state.quote = item && item.mine ? item.mine.quote : null;
  state.sentence = -1;
  desk.hidden = !item;
  byId("done").hidden = Boolean(item);
  if (!item) return;
  byId("question").textContent = item.query;
  byId("source").textContent = item.text === null ? "" : [item.id, item.document].filter(Boolean).join(" · ");
  drawText();
  byId("note-text").value = item.note || "";
  byId("note-form").hidden = true;
  for (const button of byId("grades").children) {
    const mine = item.mine && item.mine.kind === "label" && item.mine.grade === Number(button.dataset.grade);
    button.setAttribute("aria-pressed", mine ? "true" : "false");
  }
  byId("text").scrollTop = 0;
};

const drawText = () => {
  const place = byId("text");
  const text = state.item.text ?? state.item.id ?? "";
  const at = state.quote ? text.indexOf(state.quote) : -1;
  place.replaceChildren();
  if (at < 0) place.append(text);
  else place.append(text.slice(0, at), make("mark", "", state.quote), text.slice(at + state.quote.length));
  const marked = place.querySelector("mark");
  if (marked) marked.scrollIntoView({ block: "nearest" });
  const said = byId("quote");
  said.hidden = !state.quote;
  said.textContent = state.quote ? "The marked text is kept as the quote with the next grade." : "";
};

const number = (value) => (value === null ? "–" : value.toFixed(3));
const showMoved = async (since) => {
  if (!byId("moved")) return;
  let answer;
  try {
    answer = await ask(`${api}/moved?since=${since}`);
  } catch {
    return;
  }
  const place = byId("moved");
  place.replaceChildren(...answer.moved.map((one) => {
    const interval = one.after.interval;
    const sign = one.difference > 0 ? "+" : one.difference < 0 ? "−" : "±";
    const moved = one.difference === null ? "" : ` ${sign}${Math.abs(one.difference).toFixed(4)}`;
    const tone = one.difference > 0 ? "better" : one.difference < 0 ? "worse" : "quiet";
    return make("p", "moved-run", make("span", "quiet", one.run), document.createElement("br"),
      make("strong", "", number(one.after.mean)), make("span", tone, moved),
      interval ? make("small", "", `${number(interval.low)} – ${number(interval.high)}, ${one.after.n} queries`) : null);
  }));
};

// What a judge does

const next = () => {
  // The next item is here already; the answer to the label brings the one after it.
  const following = state.ahead.shift();
  if (following) {
    show(following);
    return;
  }
  // Nothing is shown, so that no key can give a second label to what has one.
  state.item = null;
  byId("question").textContent = "Waiting for the next text …";
  byId("source").textContent = "";
  byId("text").replaceChildren();
};

const grade = (value) => {
  if (!state.item) return;
  queue({ item: state.item.item, kind: "label", grade: value, ...(state.quote ? { quote: state.quote } : {}) });
  next();
};

const skip = () => {
  if (!state.item) return;
  queue({ item: state.item.item, kind: "skip" });
  next();
};

const undo = () => queue({ item: 0, kind: "undo" });

// Marking: what is selected, or else one sentence after another, so that it needs no pointer.

const sentences = () => {
  // A line may end within a sentence; an empty line never does. Every character keeps its place.
  const text = (state.item.text || "").replace(/([^\r\n])(\r?\n)(?=[^\r\n])/g,
    (_, before, end) => before + " ".repeat(end.length));
  const pieces = [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(text)];
  return pieces.filter((one) => one.segment.trim())
    .map((one) => ({ from: one.index, to: one.index + one.segment.trimEnd().length }));
};

const setMark = (text, said) => {
  state.quote = text || null;
  drawText();
  status(said);
};

const unmark = () => {
  if (!state.item || !state.quote) return;
  state.sentence = -1;
  setMark(null, "The mark is gone.");
};

const mark = () => {
  const chosen = getSelection();
  const inside = chosen.rangeCount && byId("text").contains(chosen.anchorNode) && byId("text").contains(chosen.focusNode);
  const text = inside ? chosen.toString().trim() : "";
  if (!state.item) return;
  if (!text) {
    markSentence(false);
  } else if (!(state.item.text || "").includes(text)) {
    status("Select one piece of the text.", true);
  } else {
    state.sentence = -1;
    setMark(text, "Marked; the grade keeps it.");
  }
};

const markSentence = (more) => {
  if (!state.item) return;
  const all = sentences();
  const next = state.sentence + 1;
  if (!all[next]) {
    if (!all.length) status("There is no text to mark.");
    else if (!more) unmark();
    return;
  }
  const text = state.item.text;
  if (!more || state.sentence < 0) state.from = all[next].from;
  state.sentence = next;
  setMark(text.slice(state.from, all[next].to).trim(), `Sentence ${next + 1} of ${all.length} is marked; the grade keeps it.`);
};

const toggle = (form, field) => {
  byId(form).hidden = !byId(form).hidden;
  if (!byId(form).hidden) byId(field).focus();
};

byId("note-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("note-text").value.trim();
  if (text && state.item) {
    queue({ item: state.item.item, kind: "note", note: text });
    state.item.note = text;
  }
  byId("note-form").hidden = true;
  byId("text").focus();
});

byId("search-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const found = await ask(`${api}/search?text=${encodeURIComponent(byId("search-text").value)}`);
  byId("search-found").replaceChildren(...found.items.map((one) => {
    const button = make("button", "", one.query.slice(0, 80), " – ", (one.text || one.id || "").slice(0, 80));
    button.type = "button";
    button.addEventListener("click", () => {
      byId("search-form").hidden = true;
      if (state.item) state.ahead.unshift(state.item);
      show(one);
      byId("text").focus();
    });
    return make("li", "", button);
  }));
  if (!found.items.length) byId("search-found").replaceChildren(make("li", "", "Nothing holds that."));
});

grades.forEach((value, at) => {
  const button = make("button", "", make("span", "", String(value)), make("small", "", words[at]));
  button.type = "button";
  button.dataset.grade = String(value);
  button.setAttribute("aria-keyshortcuts", String(value));
  button.addEventListener("click", () => grade(value));
  byId("grades").append(button);
});

const actions = {
  n: skip, u: undo, m: mark, M: () => markSentence(true), Backspace: unmark, c: () => toggle("note-form", "note-text"),
  "/": () => toggle("search-form", "search-text"), "?": () => byId("keys").showModal(),
};
if (yesNo) actions.y = () => grade(1);
for (const [id, key] of [["skip", "n"], ["undo", "u"], ["mark", "m"], ["note", "c"], ["search", "/"], ["help", "?"]]) {
  byId(id).addEventListener("click", actions[key]);
  byId(id).setAttribute("aria-keyshortcuts", key);
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    byId("note-form").hidden = true;
    byId("search-form").hidden = true;
    return;
  }
  if (typing(event) || event.repeat) return;
  const value = grades.find((one) => String(one) === event.key);
  if (value !== undefined) {
    event.preventDefault();
    grade(value);
  } else if (actions[event.key]) {
    event.preventDefault();
    actions[event.key]();
  }
});

const load = async () => {
  const query = desk.dataset.query ? `?query=${encodeURIComponent(desk.dataset.query)}` : "";
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      const answer = await ask(`${api}/next${query}`);
      take(answer);
      showMoved(answer.last);
      return;
    } catch (error) {
      status(reason(error), true);
      // What was refused for what it is, is refused the next time too.
      if (error instanceof Refused && ![429, 500, 502, 503, 504].includes(error.status)) return;
    }
    await pauseFor(pause);
  }
};

// What was left behind goes first: its answer says what is next, and nothing is judged twice.
if (waiting.length) send();
else await load();
// Another tab may have left something behind, and a server that is back has not said so.
addEventListener("online", send);
