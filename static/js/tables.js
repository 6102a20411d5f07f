// Sorting by a click on a column's head, and filtering by what is typed.
"use strict";

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value || cell.textContent.trim();
  const number = Number(text);
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(left, right) {
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left).localeCompare(String(right), document.documentElement.lang, { numeric: true });
}

function sortBy(head) {
  const body = head.closest("table").tBodies[0];
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...body.rows].sort((a, b) => compare(valueOf(a, head.cellIndex), valueOf(b, head.cellIndex)));
  body.append(...(down ? rows.reverse() : rows));
}

function filter(field) {
  const wanted = field.value.trim().toLowerCase();
  let shown = 0;
  for (const table of document.querySelectorAll(field.dataset.filter)) {
    let here = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) here += 1;
    }
    table.closest("section").hidden = here === 0;
    shown += here;
  }
  for (const note of document.querySelectorAll(".empty-filter")) note.hidden = shown > 0;
}

for (const head of document.querySelectorAll("table.sortable thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  button.append(...head.childNodes);
  button.addEventListener("click", () => sortBy(head));
  head.append(button);
}
for (const field of document.querySelectorAll("[data-filter]")) {
  field.addEventListener("input", () => filter(field));
  filter(field); // a browser may bring back what was typed
}
