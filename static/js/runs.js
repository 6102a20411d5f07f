// The page of a run while it is followed: what is unfolded stays so when the page is renewed, and it says when the
// console does not answer.
"use strict";

let unfolded = [];
let focused = "";

function showUnreachable(isUnreachable) {
  document.getElementById("unreachable").hidden = !isUnreachable;
}

document.addEventListener("htmx:beforeSwap", (event) => {
  // A session that has ended answers with the login page: show that as a page, not inside this one.
  if (!new URL(event.detail.xhr.responseURL).pathname.endsWith("/fragment/")) {
    event.detail.shouldSwap = false;
    window.location.reload();
    return;
  }
  unfolded = [...document.querySelectorAll("#run details[open]")].map((details) => details.id);
  focused = document.activeElement?.closest("#run details")?.id ?? "";
});

document.addEventListener("htmx:afterSettle", () => {
  for (const id of unfolded) {
    const details = document.getElementById(id);
    if (details) { details.open = true; }
  }
  if (focused) { document.getElementById(focused)?.querySelector("summary")?.focus(); }
});

document.addEventListener("htmx:afterRequest", (event) => showUnreachable(!event.detail.successful));
