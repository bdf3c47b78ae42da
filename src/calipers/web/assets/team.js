import { ask, byId, make, say } from "./common.js";

const row = (name) => [...document.querySelectorAll("#people tbody tr")].find((one) => one.dataset.name === name);

const invite = async (body) => {
  say("");
  try {
    const made = await ask("/api/v1/people", body);
    if (!made.link) row(made.name).remove();
    else show(made);
  } catch (error) {
    say(error.message);
  }
};

// The link is shown once: the server keeps no token that it could show again.
const show = ({ name, link }) => {
  const place = byId("new-link");
  const field = make("input", "");
  field.readOnly = true;
  field.value = link;
  field.setAttribute("aria-label", `Link for ${name}`);
  const copy = make("button", "", "Copy");
  copy.type = "button";
  copy.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(link);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Copy the marked text";
    }
  });
  place.replaceChildren(make("span", "", "Give this link to ", make("strong", "", name), ":"), field, copy);
  place.hidden = false;
  field.focus();
  field.select();
  if (!row(name)) {
    const cells = [make("th", "", name), ...["", "no", ""].map((text) => make("td", "", text)), make("td", "")];
    cells[0].scope = "row";
    const added = make("tr", "", ...cells);
    added.dataset.name = name;
    document.querySelector("#people tbody").append(added);
  }
  if (!row(name).cells[1].textContent) row(name).cells[1].textContent = "judge";
  row(name).cells[3].textContent = "unused";
};

for (const button of document.querySelectorAll(".new-link, .shut-out")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const { name } = button.closest("tr").dataset;
    if (button.classList.contains("new-link")) invite({ name });
    else if (button.dataset.sure) invite({ name, out: true });
    else {
      button.dataset.sure = "1";
      button.firstChild.textContent = "Really remove";
    }
  });
}
const form = byId("invite");
form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const said = new FormData(form);
  invite({ name: said.get("name") });
});
