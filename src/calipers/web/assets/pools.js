// Closing, opening and deleting pools, for the owner.
import { ask, byId, say } from "./common.js";

for (const button of byId("pools").querySelectorAll("button[data-change]")) {
  button.hidden = false;
  const words = button.textContent;
  const calm = () => { button.textContent = words; delete button.dataset.sure; };
  button.addEventListener("blur", calm);
  button.addEventListener("click", async () => {
    if (button.dataset.change === "delete" && !button.dataset.sure) {
      button.dataset.sure = "1";
      button.textContent = "Really delete?";
      return;
    }
    say("");
    try {
      await ask(`/api/v1/pools/${button.dataset.pool}/change`, { change: button.dataset.change });
      location.reload();
    } catch (error) {
      calm();
      say(error.message);
    }
  });
}
