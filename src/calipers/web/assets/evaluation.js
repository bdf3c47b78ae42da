import { judgeThese, listKeys } from "./common.js";

listKeys();
for (const button of document.querySelectorAll("button.judge-this")) {
  button.hidden = false;
  button.addEventListener("click", () =>
    judgeThese([button.dataset.of], [button.dataset.query], button.dataset.query));
}
