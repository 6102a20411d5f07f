// Passkeys. A form that asks for a code has the passkey instead where the code is left empty; the form with which one is
// added sends what the device has made. What a device answers goes into the form's hidden field, and with it to the server.
"use strict";

function bytesOf(text) {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
}

function textOf(bytes) {
  const letters = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function withBytes(credentials) {
  return (credentials ?? []).map((each) => ({ ...each, id: bytesOf(each.id) }));
}

async function signed(options) {
  const found = await navigator.credentials.get({ publicKey: {
    ...options, challenge: bytesOf(options.challenge), allowCredentials: withBytes(options.allowCredentials),
  } });
  return { id: found.rawId, authenticatorData: found.response.authenticatorData, signature: found.response.signature,
    clientDataJSON: found.response.clientDataJSON };
}

async function made(options) {
  const found = await navigator.credentials.create({ publicKey: {
    ...options, challenge: bytesOf(options.challenge), user: { ...options.user, id: bytesOf(options.user.id) },
    excludeCredentials: withBytes(options.excludeCredentials),
  } });
  return { id: found.rawId, attestationObject: found.response.attestationObject,
    clientDataJSON: found.response.clientDataJSON };
}

// Errors have the names under which the page has a sentence for them.
function failure(name) { return new DOMException("", name); }

async function challengeFrom(form, address) {
  const headers = { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value };
  let answer;
  try {
    answer = await fetch(address, { method: "POST", headers, redirect: "error" });
  } catch {
    throw failure("Unanswered");
  }
  if (!answer.ok) { throw failure("Unanswered"); }
  return answer.json();
}

function showError(form, error) {
  // Chromium has no name of its own for a page whose certificate it does not trust.
  const name = /certificate/i.test(error.message) ? "Certificate" : error.name;
  const sentence = form.querySelector(`template[data-error="${CSS.escape(name)}"]`)
    ?? form.querySelector('template[data-error="Other"]');
  form.querySelector("[data-passkey-error]").textContent = sentence.content.textContent.trim();
}

// Sends the form with what `ask` finds, unless that is not wanted now.
function sendWith(form, ask, isWanted) {
  const field = form.elements.passkey;
  let isAsking = false;
  form.addEventListener("submit", async (event) => {
    if (field.value || !isWanted()) { return; }
    event.preventDefault();
    if (isAsking) { return; }
    isAsking = true;
    form.querySelector("[data-passkey-error]").textContent = "";
    try {
      if (!window.PublicKeyCredential) { throw failure("Missing"); }
      const parts = Object.entries(await ask()).map(([name, bytes]) => [name, textOf(bytes)]);
      field.value = JSON.stringify(Object.fromEntries(parts));
      form.requestSubmit(event.submitter);
    } catch (error) {
      showError(form, error);
    } finally {
      isAsking = false;
    }
  });
  // The browser may show the page as it was when it was left; the answer was good once.
  window.addEventListener("pageshow", () => { field.value = ""; });
}

// Only now: a button that is pressed before anybody listens sends an empty form.
function showButton(form) {
  const button = form.querySelector("[data-passkey-button]");
  if (button) {
    button.hidden = false;
    button.focus();
  }
  return button;
}

for (const form of document.querySelectorAll("form[data-make]")) {
  sendWith(form, () => made(JSON.parse(form.dataset.make)), () => true);
  showButton(form);
}

// Shown ones have been seen to: a page with two such forms loads this twice.
for (const box of document.querySelectorAll("[data-passkey][hidden]")) {
  const form = box.closest("form");
  const code = form.elements[box.dataset.code];
  const ask = async () => signed(await challengeFrom(form, box.dataset.passkey));
  sendWith(form, ask, () => code.value.trim() === "");
  box.hidden = false;
  showButton(form)?.addEventListener("click", () => {
    code.value = "";
    form.requestSubmit();
  });
}
