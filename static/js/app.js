// What every page needs: the theme menu and the copy buttons.
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

markTheme();
