import { ask, byId, newRequest, say } from "./common.js";

const list = byId("list");
for (const group of list.querySelectorAll(".settle")) group.hidden = false;
list.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-grade]");
  if (!button) return;
  const item = Number(button.closest("[data-item]").dataset.item);
  button.disabled = true;
  try {
    await ask(`/api/v1/pools/${list.dataset.pool}/settle`,
      { request: newRequest(), item, grade: Number(button.dataset.grade) });
    location.reload();
  } catch (error) {
    button.disabled = false;
    say(error.message);
  }
});
