// All results of one question at once: every row is graded by its key, or all that are left are.
import { ask, byId, make } from "./common.js";

// What a button says: its key and the name of the grade.
export const gradeFace = ({ name, keys }) => [make("span", "", keys[0]), make("small", "", name)];

export class QuestionList {
  // `label(row, grade)` sends a grade, `say` shows a sentence, `leave(row)` goes to one row alone.
  constructor(api, scale, { label, say, leave }) {
    Object.assign(this, { api, scale, label, say, leave, rows: [], at: 0, all: false });
    byId("list-all").append(...this.buttons("Grade all that are left", (grade) => this.rest(grade)));
  }

  get open() {
    return !byId("list").hidden;
  }

  get left() {
    return this.rows.filter((one) => !(one.mine && one.mine.kind === "label"));
  }

  async show(item) {
    const found = await ask(`${this.api}/list?item=${item}`);
    this.rows = found.items;
    byId("list-question").textContent = found.query;
    byId("list-rows").replaceChildren(...this.rows.map((row, at) => this.draw(row, at)));
    byId("list").hidden = false;
    this.all = false;
    this.mark();
    this.go(Math.max(this.rows.findIndex((one) => one.item === item), 0));
  }

  close() {
    byId("list").hidden = true;
  }

  buttons(what, chosen) {
    return this.scale.map((step) => {
      const { grade, name } = step;
      const button = make("button", "", ...gradeFace(step));
      button.type = "button";
      button.dataset.grade = String(grade);
      button.setAttribute("aria-label", `${what}: ${grade}, ${name}`);
      button.addEventListener("click", () => chosen(grade));
      return button;
    });
  }

  draw(row, at) {
    const text = make("p", "row-text", row.text ?? row.id ?? "", row.cut ? make("small", "", " … Enter shows all of it") : null);
    text.dir = "auto";
    const grades = make("div", "row-grades", ...this.buttons(`Grade ${at + 1}`, (grade) => this.grade(at, grade)));
    grades.setAttribute("role", "group");
    grades.setAttribute("aria-label", `Grade of ${at + 1}`);
    const title = row.title ? make("p", "text-title", row.title) : null;
    if (title) title.dir = "auto";
    const line = make("li", "row-item", title, text, grades);
    line.tabIndex = -1;
    line.addEventListener("focusin", () => { this.at = at; this.current(); });
    return line;
  }

  current() {
    [...byId("list-rows").children].forEach((line, at) => {
      if (at === this.at) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    });
  }

  // Which grades are given, and how many are left.
  mark() {
    [...byId("list-rows").children].forEach((line, at) => {
      const { mine } = this.rows[at];
      for (const button of line.querySelectorAll("button")) {
        const given = mine && mine.kind === "label" && mine.grade === Number(button.dataset.grade);
        button.setAttribute("aria-pressed", given ? "true" : "false");
      }
    });
    byId("list-left").textContent = `${this.left.length} left.`;
    byId("list-all").classList.toggle("armed", this.all);
    byId("list-bar").hidden = !this.left.length;
  }

  go(at) {
    this.at = Math.min(Math.max(at, 0), this.rows.length - 1);
    const line = byId("list-rows").children[this.at];
    if (line) line.focus();
  }

  grade(at, grade) {
    this.label([this.rows[at]], grade);
    this.rows[at].mine = { kind: "label", grade };
    this.mark();
    if (this.left.length) this.go(at + 1);
    else this.say("All results of this question are graded; Enter goes on.");
  }

  rest(grade) {
    const rows = this.left;
    if (!rows.length) return;
    this.label(rows, grade);
    for (const row of rows) row.mine = { kind: "label", grade };
    this.all = false;
    this.mark();
  }

  // Whether the key was meant for the list.
  press(key) {
    const chosen = this.scale.find(({ keys }) => keys.includes(key));
    const was = this.all;
    this.all = key === "a" && this.left.length > 0;
    if (chosen && was) this.rest(chosen.grade);
    else if (chosen) this.grade(this.at, chosen.grade);
    else if (key === "a") this.say(this.all ? "The next grade is for all that are left; any other key takes that back." : "Nothing is left.");
    else if (key === "j" || key === "ArrowDown") this.go(this.at + 1);
    else if (key === "k" || key === "ArrowUp") this.go(this.at - 1);
    else if (key === "Enter") this.leave(this.left.length ? this.rows[this.at] : null);
    else if (key === "l" || key === "Escape") this.leave(null);
    else if (!["n", "m", "M", "c", "Backspace"].includes(key)) return false;
    this.mark();
    return true;
  }
}
