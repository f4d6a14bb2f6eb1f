// Keeps the status up to date: fetches the same page again, and shows what it says now.
"use strict";

const SECONDS = 2;

async function update() {
  const shown = document.getElementById("live");
  if (!("live" in shown.dataset)) return;
  // Not under the hands of somebody who is about to press a button there, and not where nobody looks.
  if (!document.hidden && !shown.contains(document.activeElement)) {
    try {
      const answer = await fetch(location.href, { redirect: "error" });
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.getElementById("live");
        if (fresh && fresh.innerHTML !== shown.innerHTML) shown.replaceWith(document.importNode(fresh, true));
      }
    } catch {
      // The server is away: the next time, perhaps.
    }
  }
  setTimeout(update, SECONDS * 1000);
}

setTimeout(update, SECONDS * 1000);
