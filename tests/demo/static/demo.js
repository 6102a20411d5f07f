// Forms and what leads nowhere say that this is a demo; the heat map is shown what it would have asked for.
"use strict";

function sayThatItIsADemo() {
  const note = document.querySelector(".demo-note");
  note.classList.add("demo-said-now");
  note.textContent = note.textContent; // so that it is read out again
  window.setTimeout(() => note.classList.remove("demo-said-now"), 4000);
  document.getElementById("demo").scrollIntoView({ block: "nearest" });
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const asked = event.submitter?.name === "language" ? event.submitter.value : "";
  const other = asked && document.querySelector(`.demo-language[hreflang="${asked}"]`);
  if (other) {
    window.location.href = other.href;
  } else {
    sayThatItIsADemo();
  }
}, true);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-demo-off]")) {
    event.preventDefault();
    sayThatItIsADemo();
  }
});

window.fetch = async () => new Response(document.getElementById("demo-heat").textContent);
