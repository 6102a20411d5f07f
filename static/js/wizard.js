// The first step of the wizard: a slider and the size typed beside it move together (what the size means is the
// server's business; here it is only a number with a unit), and what is chosen outlives the end of a session.
"use strict";

const FACTOR = { M: 1, G: 1024, T: 1024 * 1024 };

function inMebibytes(text) {
  const match = /^\s*([\d.]+)\s*([MGT])/i.exec(text);
  return match ? Number(match[1]) * FACTOR[match[2].toUpperCase()] : NaN;
}

function showInSlider(slider, input) {
  const unit = slider.dataset.unit;
  const isEmpty = input.value.trim() === "";
  const number = unit ? inMebibytes(input.value) / FACTOR[unit] : Number(input.value);
  if (isEmpty && "emptyAtEnd" in slider.dataset) {
    slider.value = slider.max;
  } else if (Number.isFinite(number)) {
    slider.value = String(number);
  }
  slider.setAttribute("aria-valuetext", isEmpty ? input.placeholder : input.value);
}

function showInInput(slider, input) {
  const isAtEnd = "emptyAtEnd" in slider.dataset && slider.value === slider.max;
  input.value = isAtEnd ? "" : slider.value + slider.dataset.unit;
  slider.setAttribute("aria-valuetext", input.value || input.placeholder);
}

function joinSliders() {
  for (const slider of document.querySelectorAll("[data-slider-for][hidden]")) {
    const input = document.getElementById(slider.dataset.sliderFor);
    slider.hidden = false;
    showInSlider(slider, input);
    slider.addEventListener("input", () => showInInput(slider, input));
    input.addEventListener("input", () => showInSlider(slider, input));
  }
}

// The server keeps every choice, but it does not take the first one after the end of a session, nor what is then sent.
// That waits here, for the same user and page in this tab, until the login has led back.
const form = document.getElementById("devices");
const WAITING = `wizard ${form.dataset.keep} ${window.location.pathname}`;

function keepHere() {
  const fields = [...new FormData(form)].filter(([name]) => name !== "csrfmiddlewaretoken");
  window.sessionStorage.setItem(WAITING, JSON.stringify(fields));
}

function isChosen(field, kept) {
  return kept.some(([name, value]) => name === field.name && value === field.value);
}

function takeUp() {
  const waiting = window.sessionStorage.getItem(WAITING);
  window.sessionStorage.removeItem(WAITING);
  if (!waiting || !new URL(document.referrer || "about:blank").pathname.startsWith("/login")) { return; }
  const kept = JSON.parse(waiting);
  for (const field of form.querySelectorAll("[type=checkbox], [type=radio]")) {
    if (!field.disabled) { field.checked = isChosen(field, kept); }
  }
  for (const [name, value] of kept) {
    const field = form.querySelector(`[type=text][name="${name}"], [type=number][name="${name}"]`);
    if (field) { field.value = value; }
  }
  document.getElementById("disks").dispatchEvent(new Event("change", { bubbles: true }));
}

form.addEventListener("submit", keepHere);
document.addEventListener("htmx:beforeSwap", (event) => {
  // A session that has ended answers with the login page.
  if (new URL(event.detail.xhr.responseURL).pathname.endsWith("/answer/")) { return; }
  event.detail.shouldSwap = false;
  keepHere();
  document.getElementById("signed-out").hidden = false;
});
document.addEventListener("htmx:afterSettle", joinSliders);

joinSliders();
window.addEventListener("load", takeUp);
