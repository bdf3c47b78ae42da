// Lists of evaluations and queries: their keys, their buttons, and what is ticked to be compared.
import { byId, judgeButtons, listKeys } from "./common.js";

if (byId("queries")) listKeys();
judgeButtons();
const form = byId("pick");
if (form) {
  const button = form.querySelector("button");
  const count = () => {
    const n = form.querySelectorAll("input:checked").length;
    button.disabled = n < 2;
    byId("picked").textContent = n < 2 ? "Tick two or more." : `${n} ticked.`;
  };
  form.addEventListener("change", count);
  // A browser may bring back ticks of an earlier visit.
  addEventListener("pageshow", count);
  count();
}
