// Ask until what is being made is there, then show it.

const said = document.getElementById("working");

for (;;) {
  let answer;
  try {
    answer = await fetch(location.href, { credentials: "same-origin" });
  } catch {
    said.textContent = "The server does not answer; it is asked again.";
    await new Promise((done) => setTimeout(done, 2000));
    continue;
  }
  if (answer.status !== 202) break;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  said.textContent = page.getElementById("working").textContent;
}
location.reload();
