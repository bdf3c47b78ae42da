// The text to judge: drawn, marked, and named. What is selected is marked at its own place, or one
// sentence after another is; a mark is a pair of offsets, as a phrase may stand in a text twice.
import { make } from "./common.js";

const trimmed = (text, from, to) => {
  while (from < to && !text[from].trim()) from += 1;
  while (to > from && !text[to - 1].trim()) to -= 1;
  return from < to ? { from, to } : null;
};

// What is selected within a place. A triple click ends in the element after it: what lies
// outside is left out.
export const selected = (place, text) => {
  const chosen = getSelection();
  if (!chosen.rangeCount || chosen.isCollapsed) return null;
  const range = chosen.getRangeAt(0);
  if (!range.intersectsNode(place)) return null;
  const all = document.createRange();
  all.selectNodeContents(place);
  const within = range.cloneRange();
  if (within.compareBoundaryPoints(Range.START_TO_START, all) < 0) within.setStart(all.startContainer, all.startOffset);
  if (within.compareBoundaryPoints(Range.END_TO_END, all) > 0) within.setEnd(all.endContainer, all.endOffset);
  const before = document.createRange();
  before.setStart(place, 0);
  before.setEnd(within.startContainer, within.startOffset);
  const from = before.toString().length;
  return trimmed(text, from, from + within.toString().length);
};

// Whether lines must keep their columns: code, tables and the like.
const CODE = /^(\s{4,}|\t)\S|[{};]\s*$|^\s*(def|class|import|function|const|let|var|SELECT|#include|<\/?\w+>?)\b|^\s*(```|\||\+-)/;
const TABLE = /\S(\t|\s{3,}|\s*\|\s*)\S.*\S(\t|\s{3,}|\s*\|\s*)\S|\|.*\|/;
export const isPlainText = (text) => {
  const lines = text.slice(0, 20_000).split("\n").filter((line) => line.trim());
  const plain = lines.filter((line) => CODE.test(line) || TABLE.test(line)).length;
  return plain >= 2 && plain >= lines.length / 3;
};

// Markdown as nodes: headings, lists, tables, code, bold. What is anything else stays text.
const inline = (text) => text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
  if (part.length > 2 && part.startsWith("`")) return make("code", "", part.slice(1, -1));
  return part.startsWith("**") && part.length > 4 ? make("strong", "", part.slice(2, -2)) : part;
});
const cells = (line, tag) => make("tr", "", ...line.trim().replace(/^\||\|$/g, "").split("|").map((one) => make(tag, "", ...inline(one.trim()))));
export const markdown = (text) => text.split(/(```[^\n]*\n[\s\S]*?(?:\n```|$))/).flatMap((part) => {
  if (part.startsWith("```")) return [make("pre", "", part.replace(/^```[^\n]*\n|\n?```$/g, ""))];
  return part.split(/\n\s*\n/).filter((one) => one.trim()).flatMap((block) => {
    const lines = block.replace(/^\n+|\n+$/g, "").split("\n");
    const heading = /^(#{1,6})\s+(.*)/.exec(lines[0]);
    if (heading) return [make("h3", "", ...inline(heading[2])), ...(lines.length > 1 ? markdown(lines.slice(1).join("\n")) : [])];
    if (lines.length > 1 && /^[\s|:-]+$/.test(lines[1]) && lines[1].includes("-") && lines[0].includes("|"))
      return [make("table", "compact", cells(lines[0], "th"), ...lines.slice(2).map((line) => cells(line, "td")))];
    if (lines.every((line) => /^\s*([-*+]|\d+\.)\s|^\s{2,}/.test(line)))
      return [make("ul", "", ...lines.map((line) => make("li", "", ...inline(line.replace(/^\s*([-*+]|\d+\.)\s/, "")))))];
    return [make("p", "", ...inline(lines.join("\n")))];
  });
});

// The text as nodes. A long one is cut where a line ends, and the browser lays out what is seen.
const BLOCK = 4_000;
export const drawn = (text, mark) => {
  const part = (from, to) => {
    const [low, high] = mark ? [Math.max(from, mark.from), Math.min(to, mark.to)] : [0, 0];
    if (low >= high) return [text.slice(from, to)];
    return [text.slice(from, low), make("mark", "", text.slice(low, high)), text.slice(high, to)];
  };
  if (text.length <= 2 * BLOCK) return part(0, text.length);
  const blocks = [];
  for (let from = 0; from < text.length;) {
    const end = ["\n", " "].map((one) => text.indexOf(one, from + BLOCK) + 1)
      .find((one) => one && one <= from + 2 * BLOCK);
    let to = Math.min(end || from + 2 * BLOCK, text.length);
    if (/[\uDC00-\uDFFF]/.test(text[to] || "")) to += 1;
    blocks.push(make("div", "block", ...part(from, to)));
    from = to;
  }
  return blocks;
};

const cutter = new Intl.Segmenter(undefined, { granularity: "sentence" });

// The first sentence that begins at a place or behind it; null at the end. Only what is near is
// looked at: a text may be as long as a book.
const WINDOW = 20_000;
export const sentenceAfter = (text, at) => {
  for (let start = at; start < text.length;) {
    // A line may end within a sentence; an empty line never does. Every character keeps its place.
    const piece = text.slice(start, start + WINDOW).replace(/([^\r\n])(\r?\n)(?=[^\r\n])/g,
      (_, before, end) => before + " ".repeat(end.length));
    for (const one of cutter.segment(piece)) {
      const found = trimmed(text, start + one.index, start + one.index + one.segment.length);
      if (found) return found;
    }
    start += WINDOW;
  }
  return null;
};

// The log counts characters as Python does; a browser counts the halves of some twice.
export const characters = (text, upto) => {
  let count = 0;
  for (const _ of text.slice(0, upto)) count += 1;
  return count;
};

export const placeOf = (text, quote, start) => {
  let from = text.indexOf(quote);
  if (start !== null && start !== undefined) {
    from = 0;
    for (const one of text) {
      if (start === 0) break;
      start -= 1;
      from += one.length;
    }
  }
  return text.startsWith(quote, from) && from >= 0 ? { from, to: from + quote.length } : null;
};

// Names as text; an address can be opened, in a window of its own, and nothing is loaded before.
const ADDRESS = /https?:\/\/[^\s<>"'`\\^{|}]+/g;
const IMAGE = /\.(png|jpe?g|gif|webp|avif|svg)$/i;
const addressesIn = (text) => [...new Set(text.slice(0, 100_000).match(ADDRESS) || [])]
  .map((one) => one.replace(/[.,;:!?)\]]+$/, "")).filter((one) => URL.canParse(one)).slice(0, 8);

export const named = ({ text, id, document: from }) => {
  const names = text === null ? [from] : [id, from];
  const found = addressesIn(names.concat(text).filter(Boolean).join("\n"));
  const links = found.map((one) => {
    const image = IMAGE.test(new URL(one).pathname);
    const link = make("a", image ? "button small-button" : "", image ? "Open the image" : one);
    Object.assign(link, { href: one, target: "_blank", rel: "noopener noreferrer" });
    return image ? make("span", "", make("bdi", "", one), " ", link) : link;
  });
  const plain = names.filter((one) => one && !found.includes(one)).map((one) => make("bdi", "", one));
  return [...plain, ...links].flatMap((one, at) => (at ? [" · ", one] : [one]));
};
