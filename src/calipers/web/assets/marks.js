// Marks in a text: what is selected, at its own place, or one sentence after another. A mark is a
// pair of offsets, as a phrase may stand in a text twice.

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

// The text as nodes. A long one is cut where a line ends, and the browser lays out what is seen.
const BLOCK = 4_000;
export const drawn = (text, mark) => {
  const part = (from, to) => {
    const [low, high] = mark ? [Math.max(from, mark.from), Math.min(to, mark.to)] : [0, 0];
    if (low >= high) return [text.slice(from, to)];
    const marked = document.createElement("mark");
    marked.append(text.slice(low, high));
    return [text.slice(from, low), marked, text.slice(high, to)];
  };
  if (text.length <= 2 * BLOCK) return part(0, text.length);
  const blocks = [];
  for (let from = 0; from < text.length;) {
    const end = ["\n", " "].map((one) => text.indexOf(one, from + BLOCK) + 1)
      .find((one) => one && one <= from + 2 * BLOCK);
    let to = Math.min(end || from + 2 * BLOCK, text.length);
    if (/[\uDC00-\uDFFF]/.test(text[to] || "")) to += 1;
    const block = document.createElement("div");
    block.className = "block";
    block.append(...part(from, to));
    blocks.push(block);
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
