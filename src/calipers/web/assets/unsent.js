// Labels on their way. Each is kept in the browser until it is on disk, so that a closed tab loses
// none; a second tab that sends the same one adds nothing, as a request has a name.
import { ask, newRequest, Refused } from "./common.js";

export const reason = (error) => (error instanceof Refused ? error.message : "The server cannot be reached.");

// Cut short when the network is back.
export const pauseFor = (time) => new Promise((done) => {
  setTimeout(done, time);
  addEventListener("online", done, { once: true });
});

export class Unsent {
  // `arrived(answer, more)` hears of each that is on disk, `refused(about)` of one that never will be.
  constructor(api, { pool, judge, query }, { status, arrived, refused }) {
    Object.assign(this, { api, status, arrived, refused, sending: false, latest: 0, away: "" });
    this.always = { judge, ...(query ? { query } : {}) };
    // Of one judge in one pool: another judge in the same browser must not send them.
    this.prefix = `calipers-unsaved-${pool}-${judge}-`;
    this.waiting = this.kept();
    // Another tab may have left something behind, and a server that is back has not said so.
    addEventListener("online", () => this.send());
  }

  kept() {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(this.prefix))
        .map((key) => JSON.parse(localStorage.getItem(key))).sort((a, b) => a.at - b.at);
    } catch {
      return [];
    }
  }

  add(entry) {
    // Later than the one before, also within one tick of the clock: an undo must not overtake.
    this.latest = Math.max(Date.now(), this.latest + 1);
    const whole = { request: newRequest(), ...this.always, ...entry, at: this.latest };
    try {
      localStorage.setItem(this.prefix + whole.request, JSON.stringify(whole));
    } catch {
      // A browser that keeps nothing: then this tab alone has it.
    }
    this.waiting.push(whole);
    // While the server is away the next attempt may be seconds off: the count is right at once.
    if (this.away) this.sayKept();
    this.send();
    return whole.request;
  }

  // Only the first is ever tried, and may have arrived; what waits behind it is known here alone.
  takeBack(request) {
    if (this.waiting.length < 2 || this.waiting.at(-1).request !== request) return false;
    this.forget(this.waiting.pop());
    if (this.away) this.sayKept();
    return true;
  }

  sayKept() {
    const n = this.waiting.length;
    // An undo waits like a label, and is none.
    const what = this.waiting.every(({ kind }) => kind === "label") ? "label" : "change";
    this.status(`Not saved yet: ${this.away} ${n} ${what}${n === 1 ? " is" : "s are"} kept in this browser and will be sent again.`, true);
  }

  dropFirst() {
    this.forget(this.waiting.shift());
  }

  forget({ request }) {
    try {
      localStorage.removeItem(this.prefix + request);
    } catch {
      // Nothing was kept.
    }
  }

  async send() {
    if (this.sending) return;
    this.sending = true;
    let pause = 500;
    while (this.waiting.length) {
      const n = this.waiting.length;
      this.status(n > 1 ? `Saving ${n} …` : "Saving …");
      let answer;
      try {
        const { at, ...entry } = this.waiting[0];
        answer = await ask(`${this.api}/labels`, entry);
      } catch (error) {
        if (error instanceof Refused && [400, 404, 412, 413].includes(error.status)) {
          // The server will never take it: say so, and show what is to be judged.
          this.dropFirst();
          await this.refused(error.said.about);
          this.status(`Not saved: ${error.message}`, true);
          continue;
        }
        // Whatever else it is (the server or its store is away, or somebody else signed in), the
        // labels are kept and sent again; their requests have names, so none counts twice.
        this.away = reason(error);
        this.sayKept();
        await pauseFor(pause);
        pause = Math.min(pause * 2, 8000);
        continue;
      }
      this.dropFirst();
      this.away = "";
      pause = 500;
      this.arrived(answer, this.waiting.length);
    }
    this.sending = false;
  }
}
