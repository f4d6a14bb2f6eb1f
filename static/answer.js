// Shows an answer in the page while it is written. What comes is only ever written as text.
"use strict";

for (const section of document.querySelectorAll(".answer[data-stream]")) {
  section.querySelector("a").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !window.EventSource) return;
    event.preventDefault();
    stream(section);
  });
}

function stream(section) {
  const says = added(section, "p", "says", "Reading …");
  says.setAttribute("role", "status");
  section.querySelector("a").closest("p").remove();
  const events = new EventSource(section.dataset.stream);
  events.addEventListener("claim", (event) => {
    says.before(claim(JSON.parse(event.data)));
    says.textContent = "Writing …";
  });
  events.addEventListener("end", (event) => {
    events.close();
    const end = JSON.parse(event.data);
    says.textContent = end.says;
    if (end.saved.startsWith("/")) {
      added(added(section, "p", "saved", ""), "a", "", "Link to this answer").href = end.saved;
    }
  });
  // Without this the browser would ask again, and again.
  events.addEventListener("error", () => {
    events.close();
    says.textContent = "The answer broke off.";
  });
}

function claim(said) {
  const shown = document.createElement("p");
  shown.className = `claim ${said.standing}`;
  shown.append(said.text);
  for (const source of said.sources) {
    shown.append(" ");
    const link = added(shown, "a", "", `[${source.number}]`);
    link.title = source.quote;
    // Only places of our own are opened.
    if (source.url.startsWith("/")) link.href = source.url;
  }
  if (said.says) {
    shown.append(" ");
    added(shown, "em", "", said.says);
  }
  return shown;
}

function added(parent, tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = text;
  parent.append(element);
  return element;
}
