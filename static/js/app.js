// What every page needs: the theme menu, the copy buttons, the tab in view, what is folded, and the focus where a form
// asks for something.
"use strict";

function markTheme() {
  for (const button of document.querySelectorAll("[data-theme]")) {
    button.classList.toggle("active", button.dataset.theme === window.nasadvisorTheme.chosen());
  }
}

async function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // Plain http on a LAN address is no secure context, so there is no clipboard API.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("click", async (event) => {
  const theme = event.target.closest("[data-theme]");
  if (theme) {
    window.nasadvisorTheme.choose(theme.dataset.theme);
    markTheme();
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const box = copy.parentElement.querySelector("code");
    await copyText(copy.dataset.copy || box.textContent);
    const word = copy.querySelector("span") || copy;
    const before = word.textContent;
    word.textContent = copy.dataset.copied;
    window.setTimeout(() => { word.textContent = before; }, 1500);
  }
});

// Where a form asks for something, the focus is on the first of it, unless one would have to scroll there: what stands
// above is to be read first.
function focusOnWhatIsAsked() {
  const form = document.querySelector("form[data-focus]");
  const asked = form && [...form.elements].find(
    (element) => element.matches("[type=password], [autocomplete=one-time-code], [type=checkbox][required]:not(:checked)"),
  );
  if (asked && asked.getBoundingClientRect().bottom <= window.innerHeight) { asked.focus({ preventScroll: true }); }
}

// On a phone the tabs of a place are wider than the screen: the one that is shown should be among those that are seen.
const FADED_PX = 48;

function showCurrentTab() {
  for (const tab of document.querySelectorAll(".tabs [aria-current]")) {
    const row = tab.closest("ul");
    const bringIntoView = () => {
      const shown = tab.getBoundingClientRect();
      const seen = row.getBoundingClientRect();
      if (shown.right > seen.right - FADED_PX) { row.scrollLeft += shown.right - seen.right + FADED_PX; }
      if (shown.left < seen.left + FADED_PX) { row.scrollLeft -= seen.left - shown.left + FADED_PX; }
      fade(row);
    };
    bringIntoView();
    row.addEventListener("scroll", () => fade(row), { passive: true });
    window.addEventListener("resize", bringIntoView); // a phone that is turned
  }
}

function fade(row) {
  row.classList.toggle("comes-from", row.scrollLeft > 1);
  row.classList.toggle("goes-on", row.scrollLeft + row.clientWidth < row.scrollWidth - 1);
}

// On a phone what is of second importance is folded, everywhere what a page only rests on (`more`), unless an address
// leads there. Whatever is printed is open, and what somebody opened stays so when a part is loaded anew.
const phone = window.matchMedia("screen and (max-width: 767.98px)");

function openWhereAddressLeads() {
  const target = document.getElementById(window.location.hash.slice(1)); // :target is nothing before the browser goes there
  const folded = "details[data-fold], details.more";
  const part = target?.closest(folded) ?? target?.querySelector(`:scope > :is(${folded})`);
  if (part) { part.open = true; }
}

let openBefore = "";
document.addEventListener("htmx:beforeSwap", (event) => {
  openBefore = event.target.querySelector?.(":scope > details[open]") ? event.target.id : "";
});
document.addEventListener("htmx:afterSettle", () => {
  const part = openBefore && document.getElementById(openBefore)?.querySelector(":scope > details");
  if (part) { part.open = true; }
  openBefore = "";
});

let foldedBefore = [];
window.addEventListener("beforeprint", () => {
  foldedBefore = [...document.querySelectorAll("details.more:not([open])")];
  for (const part of foldedBefore) { part.open = true; }
});
window.addEventListener("afterprint", () => { for (const part of foldedBefore) { part.open = false; } });

function foldOnPhone() {
  for (const part of document.querySelectorAll("details[data-fold]")) {
    part.open = !phone.matches;
    part.firstElementChild.tabIndex = phone.matches ? 0 : -1;
  }
  openWhereAddressLeads();
}

markTheme();
showCurrentTab();
foldOnPhone();
phone.addEventListener("change", foldOnPhone);
window.addEventListener("hashchange", openWhereAddressLeads);
// Not before: the browser itself goes to what an address names after "#", which may be left of the page before.
window.addEventListener("load", focusOnWhatIsAsked);
