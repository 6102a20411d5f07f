"use strict";

const wanted = navigator.language.slice(0, 2);
const link = document.querySelector(`a[hreflang="${wanted}"]`) || document.querySelector("a[hreflang]");
window.location.replace(link.href);
