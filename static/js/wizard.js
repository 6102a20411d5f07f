// The sliders of the layout step: a slider and the size typed beside it move together. What the size means is the
// server's business; here it is only a number with a unit.
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

for (const slider of document.querySelectorAll("[data-slider-for]")) {
  const input = document.getElementById(slider.dataset.sliderFor);
  slider.hidden = false;
  showInSlider(slider, input);
  slider.addEventListener("input", () => showInInput(slider, input));
  input.addEventListener("input", () => showInSlider(slider, input));
}
