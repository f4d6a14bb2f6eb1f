// Suggestions below the question box while somebody types: a combobox with a listbox (ARIA APG). Without it the box is as usual.
"use strict";

const WAIT = 120;

for (const box of document.querySelectorAll("input[data-suggest]")) suggestFor(box);

function suggestFor(box) {
  const list = document.createElement("ul");
  list.id = `${box.id}-suggestions`;
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  box.parentElement.append(list);
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-controls", list.id);
  box.setAttribute("aria-expanded", "false");
  let asked = null;
  let waiting = 0;

  box.addEventListener("input", () => {
    clearTimeout(waiting);
    asked?.abort();
    // What stands there was for what is no longer typed.
    show([]);
    waiting = setTimeout(ask, WAIT);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      // The box would be emptied.
      event.preventDefault();
      close();
    } else if (event.key === "Enter" && active()) {
      event.preventDefault();
      take(active());
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) return;
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    }
  });
  box.addEventListener("blur", close);
  box.form.addEventListener("submit", close);
  // The box keeps the focus.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take(option);
  });

  async function ask() {
    asked = new AbortController();
    const query = new URLSearchParams({ q: box.value });
    for (const chosen of box.form.querySelectorAll("[name=collection]:checked")) query.append("collection", chosen.value);
    try {
      const response = await fetch(`${box.dataset.suggest}?${query}`, { signal: asked.signal, redirect: "error" });
      if (response.ok) show((await response.json()).suggestions);
    } catch {
      // Given up for what was typed since, or signed out meanwhile: nothing is suggested.
    }
  }

  function show(texts) {
    list.replaceChildren(
      ...texts.map((text, number) => {
        const option = document.createElement("li");
        option.id = `${list.id}-${number}`;
        option.setAttribute("role", "option");
        option.setAttribute("aria-selected", "false");
        option.textContent = text;
        return option;
      }),
    );
    const isShown = texts.length > 0 && document.activeElement === box;
    list.hidden = !isShown;
    box.setAttribute("aria-expanded", String(isShown));
    box.removeAttribute("aria-activedescendant");
  }

  function active() {
    return list.querySelector("[aria-selected=true]");
  }

  function move(step) {
    const options = [...list.children];
    // Between the last and the first one there is the box itself.
    const at = ((options.indexOf(active()) + 1 + step + options.length + 1) % (options.length + 1)) - 1;
    options.forEach((option, number) => option.setAttribute("aria-selected", String(number === at)));
    if (at < 0) {
      box.removeAttribute("aria-activedescendant");
      return;
    }
    box.setAttribute("aria-activedescendant", options[at].id);
    options[at].scrollIntoView({ block: "nearest" });
  }

  function take(option) {
    box.value = option.textContent;
    close();
  }

  function close() {
    clearTimeout(waiting);
    asked?.abort();
    show([]);
  }
}
