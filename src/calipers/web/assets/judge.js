// Judging: one keystroke per label. A label counts as saved only when the server says that it is
// on disk; until then it stays in a queue here, which also outlives a reload.
import { ask, byId, keyOf, make, Refused, typing } from "./common.js";
import { characters, drawn, isPlainText, markdown, named, placeOf, selected, sentenceAfter } from "./text.js";
import { pauseFor, reason, Unsent } from "./unsent.js";

const desk = byId("desk");
const api = `/api/v1/pools/${desk.dataset.pool}`;
// Every grade with its name and its keys, as the server says.
const scale = JSON.parse(desk.dataset.scale);
// `item` is what is on the screen, and the only thing that a key is about.
// `last` is what was given last, with what the screen showed: it is undone without the server too.
const state = { item: null, ahead: [], mark: null, asMarkdown: false, last: null };
// The tabs of one judge tell each other what they labelled.
const tabs = new BroadcastChannel(`calipers-${desk.dataset.pool}-${desk.dataset.judge}`);

const status = (text, wrong = false) => {
  const place = byId("save");
  place.textContent = text;
  place.classList.toggle("wrong", wrong);
};

const tookBack = (one) => {
  if (one.kind === "label") return `your grade ${one.grade}, ${(scale.find(({ grade }) => grade === one.grade) || {}).name}`;
  return one.kind === "note" ? `your note “${one.note.slice(0, 60)}”` : "that you skipped it";
};

const arrived = (answer, more) => {
  if (more) return;
  take(answer, answer.undone);
  status(answer.undone ? `Undone: ${tookBack(answer.undone)}.` : "Saved.");
  tabs.postMessage(answer.saved.item);
};

tabs.addEventListener("message", ({ data: item }) => {
  state.ahead = state.ahead.filter((one) => one.item !== item);
  if (unsent.waiting.length) return;
  if (state.item && state.item.item === item) {
    keepNote();
    state.item = null;
    status("You labelled the previous text in another tab.");
  }
  load();
});

// What is shown

// What an answer says is next never moves a page that shows something: only what comes after it.
const take = (answer, undone = null) => {
  const { items, judged, labelled, skipped, left } = answer.progress;
  byId("progress").max = Math.max(items, 1);
  byId("progress").value = judged;
  byId("pace").textContent = `${judged} of ${items} judged. You: ${labelled} labelled, ${skipped} skipped.`;
  // A sample shows how wide its interval is; its value would sway who judges it.
  byId("sample").textContent = answer.sample ?? "";
  byId("place").textContent = `Text ${labelled + skipped + 1}, ${left} left`;
  state.elsewhere = answer.next.length ? 0 : left;
  const here = undone ? undone.about : state.item;
  state.ahead = answer.next.filter((one) => !here || one.item !== here.item);
  // What was marked stays marked, for the grade that comes instead.
  if (undone) show(undone.about, undone.about.mine || undone);
  else if (!state.item) show(state.ahead.shift() || null);
};

const show = (item, marked = item && item.mine) => {
  keepNote();
  state.item = item;
  state.mark = marked && marked.quote ? placeOf(item.text || "", marked.quote, marked.quote_start) : null;
  desk.hidden = !item;
  byId("done").hidden = Boolean(item);
  byId("elsewhere").textContent = state.elsewhere
    ? `${state.elsewhere} open on another screen. What is not judged there within ten minutes comes to you.` : "";
  byId("spoken").textContent = item ? `${item.query} ${item.title ?? ""} ${(item.text ?? item.id ?? "").slice(0, 200)}` : "Nothing is left for you to judge.";
  if (!item) {
    // What is on another screen may be left there.
    if (state.elsewhere) setTimeout(() => { if (!state.item && !unsent.waiting.length) load(); }, 20_000);
    return;
  }
  byId("question").textContent = item.query;
  byId("question").classList.toggle("long", item.query.length > 200);
  byId("rest").hidden = !item.cut;
  showTitle(item.title);
  drawText();
  byId("source").replaceChildren(...named(item));
  byId("note-text").value = item.note || "";
  byId("note-form").hidden = true;
  for (const button of byId("grades").children) {
    const mine = item.mine && item.mine.kind === "label" && item.mine.grade === Number(button.dataset.grade);
    button.setAttribute("aria-pressed", mine ? "true" : "false");
  }
  byId("text").scrollTop = 0;
  if (marked && marked.quote && !state.mark) showRest(marked);
  // The keys that scroll are for the text.
  if (document.activeElement === document.body) byId("text").focus({ preventScroll: true });
};

const showTitle = (title) => {
  byId("title").textContent = title ?? "";
  byId("title").hidden = !title;
};

// Nothing is on the screen, so that no key can give a label to what has one.
const blank = (words) => {
  keepNote();
  state.item = null;
  byId("question").textContent = words;
  byId("source").replaceChildren();
  byId("text").replaceChildren();
  showTitle(null);
};

// A very long text comes in two parts, the second one when somebody wants it, or marked in it.
const showRest = async (marked = null) => {
  const { item } = state;
  if (!item || !item.cut) return;
  try {
    item.text = (await ask(`${api}/item?item=${item.item}`)).text;
    item.cut = false;
  } catch (error) {
    status(reason(error), true);
  }
  if (state.item !== item || item.cut) return;
  byId("rest").hidden = true;
  if (marked) state.mark = placeOf(item.text, marked.quote, marked.quote_start);
  drawText();
};

const drawText = () => {
  const place = byId("text");
  const text = state.item.text ?? state.item.id ?? "";
  const { mark } = state;
  const { scrollTop } = place;
  place.classList.toggle("mono", !state.asMarkdown && isPlainText(text));
  place.classList.toggle("markdown", state.asMarkdown);
  place.replaceChildren(...(state.asMarkdown && !mark ? markdown(text) : drawn(text, mark)));
  place.scrollTop = scrollTop;
  const marked = place.querySelector("mark");
  if (marked) marked.scrollIntoView({ block: "nearest" });
  byId("quote").hidden = !mark;
};

// What a judge does

// What is sent says which text was shown, and which label of one's own: for another the server
// refuses it. What is on its way still is known here alone.
const give = (item, entry) => {
  const known = unsent.waiting.some((one) => one.item === item.item) ? {} : { seen: item.mine ? item.mine.number : 0 };
  const request = unsent.add({ item: item.item, shown: item.key, ...(entry.kind === "note" ? {} : known), ...entry });
  state.last = { request, item, entry };
};

const next = () => {
  // The next item is here already; the answer to the label brings the one after it.
  const following = state.ahead.shift();
  if (following) show(following);
  else blank("Waiting for the next text …");
};

const grade = (value) => {
  if (!state.item) return;
  const { item, mark } = state;
  const quote = mark ? { quote: item.text.slice(mark.from, mark.to), quote_start: characters(item.text, mark.from) } : {};
  give(item, { kind: "label", grade: value, ...quote });
  next();
};

const skip = () => {
  if (!state.item) return;
  give(state.item, { kind: "skip" });
  next();
};

// The answer says what was taken back, and brings its text to the screen. While the server is away
// the text that was labelled last comes back at once, so that the work goes on.
const undo = () => {
  keepNote();
  const { last } = state;
  state.last = null;
  const away = last && unsent.away && unsent.waiting.some(({ request }) => request === last.request);
  if (state.item && !(away && last.item === state.item)) state.ahead.unshift(state.item);
  desk.hidden = false;
  byId("done").hidden = true;
  if (!away) blank("Taking back …");
  if (!away || !unsent.takeBack(last.request)) unsent.add({ kind: "undo" });
  if (!away) return;
  state.item = null;
  if (last.entry.kind === "note") last.item.note = last.before;
  show(last.item, last.entry.quote ? last.entry : last.item.mine);
};

const setMark = (mark, said) => {
  state.asMarkdown = false;
  state.mark = mark;
  drawText();
  status(said);
};

const unmark = () => {
  if (state.item && state.mark) setMark(null, "Mark removed.");
};

const mark = () => {
  if (!state.item) return;
  const chosen = state.asMarkdown ? null : selected(byId("text"), state.item.text || "");
  if (chosen) setMark(chosen, "Marked. Your next grade saves the mark.");
  else markSentence(false);
};

const markSentence = (more) => {
  if (!state.item) return;
  const found = sentenceAfter(state.item.text || "", state.mark ? state.mark.to : 0);
  if (found) setMark({ from: more && state.mark ? state.mark.from : found.from, to: found.to }, "Sentence marked. Your next grade saves the mark.");
  else if (state.item.cut) status("The text is longer: press r for the rest.");
  else if (!state.mark) status("There is no text to mark.");
  else if (!more) unmark();
};

// A note is kept however its form is left: by its button, by Escape, by the next grade or a reload.
const keepNote = () => {
  const form = byId("note-form");
  const text = byId("note-text").value.trim();
  if (form.hidden || !state.item) return;
  form.hidden = true;
  if (!text && state.item.note) status("An empty note is not saved. To remove a note, undo it.");
  if (!text || text === state.item.note) return;
  const before = state.item.note;
  state.item.note = text;
  give(state.item, { kind: "note", note: text });
  state.last.before = before;
};

const closeNote = () => {
  keepNote();
  byId("text").focus();
};

const openNote = () => {
  const closed = byId("note-form").hidden;
  closeNote();
  if (!closed || !state.item) return;
  byId("note-form").hidden = false;
  byId("note-text").focus();
};

byId("note-form").addEventListener("submit", (event) => {
  event.preventDefault();
  closeNote();
});
byId("note-text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) closeNote();
});
addEventListener("pagehide", keepNote);

for (const { grade: value, name, keys } of scale) {
  const button = make("button", "", make("span", "", keys[0]), make("small", "", name));
  button.type = "button";
  button.dataset.grade = String(value);
  button.setAttribute("aria-keyshortcuts", keys.join(" "));
  button.addEventListener("click", () => grade(value));
  byId("grades").append(button);
}

const actions = {
  n: skip, u: undo, m: mark, M: () => markSentence(true), Backspace: unmark, c: openNote,
  r: () => showRest(), v: () => {
    state.asMarkdown = !state.asMarkdown;
    if (state.item) drawText();
    status(state.asMarkdown ? "Shown as Markdown. Press v for plain text." : "Shown as plain text.");
  }, "?": () => byId("keys").showModal(),
};
for (const [id, key] of [["skip", "n"], ["undo", "u"], ["mark", "m"], ["note", "c"], ["rest", "r"], ["view", "v"], ["help", "?"]]) {
  byId(id).addEventListener("click", actions[key]);
  byId(id).setAttribute("aria-keyshortcuts", key);
}
byId("undo-last").addEventListener("click", undo);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !byId("keys").open) {
    closeNote();
    return;
  }
  if (typing(event) || event.repeat) return;
  const key = keyOf(event);
  const chosen = scale.find(({ keys }) => keys.includes(key));
  if (chosen) {
    event.preventDefault();
    grade(chosen.grade);
  } else if (Object.hasOwn(actions, key)) {
    event.preventDefault();
    actions[key]();
  }
});

const load = async () => {
  const wanted = { judge: desk.dataset.judge, ...(desk.dataset.query ? { query: desk.dataset.query } : {}) };
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      const answer = await ask(`${api}/take`, wanted);
      take(answer);
      return;
    } catch (error) {
      status(reason(error), true);
      // What was refused for what it is, is refused the next time too.
      if (error instanceof Refused && ![429, 500, 502, 503, 504].includes(error.status)) return;
    }
    await pauseFor(pause);
  }
};

const unsent = new Unsent(api, desk.dataset, {
  status,
  arrived,
  refused: async (about) => {
    if (about) show(about);
    await load();
  },
});

// What was left behind goes first: its answer says what is next, and nothing is judged twice.
const begin = async () => {
  // Who reviews their labels comes here for one of them; then the queue goes on.
  if (desk.dataset.item) {
    try {
      show(await ask(`${api}/item?item=${desk.dataset.item}`));
    } catch (error) {
      status(reason(error), true);
    }
  }
  await (unsent.waiting.length ? unsent.send() : load());
};
await begin();
