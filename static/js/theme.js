// Sets the theme before the page is painted. "auto" follows the system, also when it changes.
"use strict";

(() => {
  const key = "nasadvisor-theme";
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function chosen() {
    try { return localStorage.getItem(key) || "auto"; } catch { return "auto"; }
  }

  function show() {
    const theme = chosen();
    const dark = theme === "dark" || (theme === "auto" && system.matches);
    document.documentElement.dataset.bsTheme = dark ? "dark" : "light";
  }

  window.nasadvisorTheme = {
    chosen,
    choose(theme) {
      try { localStorage.setItem(key, theme); } catch { /* a browser without storage forgets the choice */ }
      show();
    },
  };
  system.addEventListener("change", show);
  show();
})();
