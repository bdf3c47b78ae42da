"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const several = data.systems.length > 1;
  const SIZE = 50;
  const byId = (id) => document.getElementById(id);

  // Text from a corpus only ever becomes text nodes: nothing in it can become markup.
  const make = (tag, classes, ...children) => {
    const one = document.createElement(tag);
    if (classes) one.className = classes;
    for (const child of children) if (child !== null && child !== undefined) one.append(child);
    return one;
  };
  const shown = (value) => (value === null || value === undefined ? "–" : value.toFixed(3));
  // The rows

  const rows = data.rows.map(([id, text, tags, systems], at) => ({ at, id, text, tags, search: null,
    systems: systems.map(([values, status, missed, failed, reason]) => ({ values, status, missed, failed, reason })) }));
  const state = { sort: several ? "d1" : "0", down: false, page: 0, opened: new Set(), metric: 0 };
  const value = (row, system, metric) => row.systems[system].values[metric];
  const difference = (row, system) => {
    const ours = value(row, system, state.metric), base = value(row, 0, state.metric);
    return ours === null || base === null ? null : ours - base;
  };
  // What a system gained over the first one, also of a metric of which less is better.
  const gain = (row, system) => difference(row, system) * (data.lower[state.metric] ? -1 : 1);
  const others = data.systems.map((_, at) => at).slice(1);

  const columns = () => {
    const query = { key: "q", name: "query", get: (row) => row.text || row.id, text: true };
    if (!several) {
      return [query,
        ...data.metrics.map((name, at) => ({ key: String(at), name,
          get: (row) => value(row, 0, at), optional: at > 0 })),
        { key: "m", name: "missed", get: (row) => row.systems[0].missed, whole: true }];
    }
    const found = [query, ...data.systems.map((name, at) =>
      ({ key: String(at), name, get: (row) => value(row, at, state.metric) }))];
    for (const at of others) found.push(
      { key: `d${at}`, name: `${data.systems[at]} − ${data.systems[0]}`, signed: true, optional: at > 1,
        get: (row) => difference(row, at) });
    return found;
  };

  // Filtering and sorting

  const controls = {
    text: byId("f-text"), metric: byId("f-metric"), below: byId("f-below"),
    failures: byId("f-failures"), outcome: byId("f-outcome"), shown: byId("f-shown"),
    tags: [...document.querySelectorAll("select[data-tag]")],
  };

  const filtered = () => {
    const words = controls.text.value.trim().toLowerCase();
    const metric = data.metrics.indexOf(controls.metric.value);
    const below = Number.parseFloat(controls.below.value);
    const tags = controls.tags.filter((one) => one.value)
      .map((one) => [data.tags.indexOf(one.dataset.tag), one.value]);
    const outcome = controls.outcome ? controls.outcome.value : "";
    const fits = { worse: (one) => one < 0, better: (one) => one > 0, different: Boolean }[outcome];
    const failures = controls.failures.checked;
    return rows.filter((row) => {
      if (words) {
        row.search ??= `${row.id}\n${row.text || ""}`.toLowerCase();
        if (!row.search.includes(words)) return false;
      }
      for (const [at, wanted] of tags) if (row.tags[at] !== wanted) return false;
      if (failures && !row.systems.some((one) => one.failed)) return false;
      if (metric >= 0 && !Number.isNaN(below) && !row.systems.some(
        ({ values }) => values[metric] !== null && values[metric] < below)) return false;
      if (fits && !others.some((at) => fits(gain(row, at)))) return false;
      return true;
    });
  };

  const collator = new Intl.Collator();
  const sorted = (found) => {
    const column = columns().find((one) => one.key === state.sort);
    const sign = state.down ? -1 : 1;
    const keyed = found.map((row) => [column.get(row), row]);
    keyed.sort(([a, x], [b, y]) => {
      if (a === null || b === null) return (a === null) - (b === null) || x.at - y.at;
      const order = column.text ? collator.compare(a, b) : a - b;
      return sign * order || x.at - y.at;
    });
    return keyed.map(([, row]) => row);
  };

  // Drawing the table

  const table = byId("table");
  let order = [];

  const drawHead = () => {
    const line = make("tr");
    for (const column of columns()) {
      const head = make("th", [column.text ? "" : "number", column.optional ? "optional" : ""].join(" ").trim());
      head.scope = "col";
      const active = state.sort === column.key;
      if (active) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      const button = make("button", "", column.name, active ? (state.down ? " ↓" : " ↑") : "");
      button.type = "button";
      button.dataset.sort = column.key;
      head.append(button);
      line.append(head);
    }
    table.tHead.replaceChildren(line);
  };

  const drawRow = (row) => {
    const line = make("tr", "row");
    const said = [];
    if (row.text) said.push(row.id);
    for (const one of row.tags) if (one !== null) said.push(one);
    const status = [...new Set(row.systems.map((one) => one.status))].filter((one) => one !== "answered");
    said.push(...status.map((one) => ({ empty: "no results", missing: "not in the run", error: "the retriever failed" })[one] || one));
    // Why a query that got worse misses what it misses.
    const why = others.filter((at) => gain(row, at) < 0 && row.systems[at].reason !== null)
      .map((at) => (others.length > 1 ? `${data.systems[at]}: ` : "") + data.reasons[row.systems[at].reason]);
    const open = make("button", "open",
      make("span", "", make("bdi", "", row.text || row.id), make("span", "sub", ...said.flatMap((one, at) => [at ? " · " : "", make("bdi", "", one)])),
        why.length ? make("span", "sub worse", why.join("; ")) : null));
    open.type = "button";
    open.setAttribute("aria-expanded", String(state.opened.has(row.at)));
    open.dataset.row = row.at;
    for (const column of columns()) {
      if (column.text) { line.append(make("td", "", open)); continue; }
      const got = column.get(row);
      const cell = make("td", column.optional ? "number optional" : "number",
        column.whole ? String(got) : column.signed && got !== null
          ? `${got > 0 ? "+" : got < 0 ? "−" : ""}${Math.abs(got).toFixed(3)}` : shown(got));
      if (column.signed && got) cell.classList.add((got > 0) !== data.lower[state.metric] ? "better" : "worse");
      line.append(cell);
    }
    if (!state.opened.has(row.at)) return [line];
    const cell = make("td", "detail-cell", make("div", "detail", drawDetail(row.at)));
    cell.colSpan = columns().length;
    return [line, make("tr", "opened", cell)];
  };

  const drawPage = () => {
    const pages = Math.max(1, Math.ceil(order.length / SIZE));
    state.page = Math.min(state.page, pages - 1);
    const start = state.page * SIZE;
    table.tBodies[0].replaceChildren(...order.slice(start, start + SIZE).flatMap(drawRow));
    byId("count").textContent = order.length === rows.length
      ? `${rows.length.toLocaleString("en")} queries`
      : `${order.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} queries`;
    byId("where").textContent = `Page ${state.page + 1} of ${pages}`;
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = state.page === pages - 1;
    byId("pager").hidden = pages === 1;
  };
  const draw = () => { order = sorted(filtered()); drawHead(); drawPage(); };

  // One query: its rankings side by side, and what was missed

  const STATES = { "relevant": "relevant", "not relevant": "judged not relevant",
    "repeated": "stood above already", "unjudged": data.byId ? "unjudged" : "holds no target" };

  const drawText = (text) => {
    const box = make("p", text.mono ? "text mono" : "text");
    if (text.before) box.append(make("span", "quiet", `${text.before.toLocaleString("en")} characters before … `));
    text.parts.forEach((part, at) => box.append(at % 2 ? make("mark", "", part) : part));
    if (text.after) box.append(make("span", "quiet", ` … ${text.after.toLocaleString("en")} characters after`));
    box.dir = "auto";
    return box;
  };

  const drawResult = (one, elsewhere) => {
    const line = make("div", "line", make("b", "", String(one.rank)),
      make("span", "state", STATES[one.state] + (one.grade > 0 && one.grade !== 1 ? `, grade ${one.grade}` : "")),
      one.name === undefined ? null : make("bdi", "name", one.name),
      one.document === undefined || one.name.startsWith(one.document) ? null : make("bdi", "quiet", one.document),
      one.score === undefined ? null : make("span", "quiet", `score ${one.score}`),
      elsewhere === null ? null : make("span", "quiet", elsewhere));
    const box = make("div", `result ${one.state.replace(" ", "-")}`, line);
    if (!one.text) return box;
    const text = drawText(one.text);
    box.append(text);
    if (one.state !== "relevant" && one.text.parts.join("").length > 160) {
      box.classList.add("shut");
      const more = make("button", "more", "whole text");
      more.type = "button";
      more.addEventListener("click", () => {
        more.textContent = box.classList.toggle("shut") ? "whole text" : "less";
      });
      box.append(more);
    }
    return box;
  };

  const identity = (one) => `${one.name ?? ""}\n${one.text && !one.name ? one.text.parts.join("") : ""}`;

  // What should be found stands above the rankings: whoever opens a query asks for it first.
  const fate = (one) => one.rank !== undefined ? `found at rank ${one.rank}`
    : one.reason === undefined ? `not in the first ${data.depth}`
      : `missed: ${one.reason}. To do: ${one.remedy}.`;

  const drawExpected = (found, heading) => {
    const targets = found[0].expected;
    if (!targets.length) return make("p", "note", "Nothing is known that should be found for this query.");
    const lines = targets.map((target, at) => make("li", found.every((one) => one.expected[at] && one.expected[at].rank === undefined) ? "lost" : "",
      make("bdi", "name", target.name),
      target.text === undefined ? null : make("span", "said", make("bdi", "", target.text)),
      ...found.map((one, system) => !one.expected[at] ? null : make("span", "sub",
        several ? make("bdi", "", data.systems[system]) : null, several ? ": " : null, fate(one.expected[at])))));
    return make("div", "expected", make(heading, "", "Expected"), make("ul", "", ...lines));
  };

  const drawDetail = (at) => {
    const heading = "h3";
    const found = data.details[at];
    const count = ["", "one", "two", "three", "four"][Math.min(found.length, 4)];
    const box = make("div", `rankings ${count}`);
    if (several) for (const name of data.systems) box.append(make(heading, "", make("bdi", "", name)));
    const ranks = found.map((one) => new Map(one.results.map((result) => [identity(result), result.rank])));
    const longest = Math.max(...found.map((one) => one.results.length));
    const stacked = several && window.matchMedia("(max-width: 40rem)").matches;
    const place = (system, rank) => {
      const result = found[system].results[rank];
      if (!result) return make("div", "result none", rank === 0 ? make("span", "quiet", "no results") : null);
      let elsewhere = null;
      if (several) {
        const other = system ? 0 : found.length - 1;
        const there = ranks[other].get(identity(result));
        const name = data.systems[other];
        elsewhere = there === undefined ? `not in the first ${data.depth} of ${name}` : there === result.rank ? `same rank in ${name}` : `rank ${there} in ${name}`;
      }
      return drawResult(result, elsewhere);
    };
    if (stacked) {
      box.replaceChildren();
      found.forEach((one, system) => {
        box.append(make(heading, "", make("bdi", "", data.systems[system])));
        for (let rank = 0; rank < Math.max(1, one.results.length); rank += 1) box.append(place(system, rank));
      });
    } else {
      for (let rank = 0; rank < Math.max(1, longest); rank += 1) {
        for (let system = 0; system < found.length; system += 1) box.append(place(system, rank));
      }
    }
    return make("div", "", drawExpected(found, heading), box);
  };

  // What the reader does

  let waiting = 0;
  const later = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(() => { state.page = 0; draw(); }); };
  byId("filters").addEventListener("input", () => {
    if (controls.shown) state.metric = data.metrics.indexOf(controls.shown.value);
    later();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-sort]");
    if (!button) return;
    const key = button.dataset.sort;
    state.down = state.sort === key ? !state.down : key === "m";
    state.sort = key;
    state.page = 0;
    draw();
    table.tHead.querySelector(`button[data-sort="${key}"]`).focus();
  });
  table.tBodies[0].addEventListener("click", (event) => {
    if (event.target.closest(".opened") || window.getSelection().toString()) return;
    const line = event.target.closest("tr.row");
    if (!line) return;
    const at = Number(line.querySelector(".open").dataset.row);
    if (!state.opened.delete(at)) state.opened.add(at);
    drawPage();
    table.querySelector(`.open[data-row="${at}"]`).focus({ preventScroll: true });
  });
  byId("previous").addEventListener("click", () => { state.page -= 1; drawPage(); });
  byId("next").addEventListener("click", () => { state.page += 1; drawPage(); });
  byId("filters").hidden = false;
  draw();
})();
