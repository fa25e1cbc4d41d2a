/* Access: copying a secret once, signing out, and signing in again without leaving the page when the session has ended. */
/* ---- a secret is copied ------------------------------------------------------------------------------------------ */
const copy = async (button) => {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.querySelector("span:last-child").textContent = button.dataset.copied;
  } catch {
    /* Without leave to copy, the text is marked, so that one key copies it. */
    window.getSelection().selectAllChildren(source);
  }
};
const leave = async (address) => {
  await plainFetch(address, { method: "POST", redirect: "manual" });
  window.location.assign("/sign-in");
};
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copy], [data-opens], [data-leaves]");
  if (button?.dataset.copy) {
    copy(button);
  } else if (button?.dataset.opens) {
    document.getElementById(button.dataset.opens)?.showModal();
  } else if (button?.dataset.leaves) {
    leave(button.dataset.leaves);
  }
});

/* ---- the session has ended ----------------------------------------------------------------------------------------- */
const part = (name) => document.getElementById(name ? `signed-out-${name}` : "signed-out");
let ticket = "";
const second = (given) => {
  ticket = given;
  part("second").hidden = !ticket;
  write("code", "");
};
const ask = () => {
  const dialog = part();
  if (!dialog || dialog.open) {
    return;
  }
  if (dialog.dataset.user) {
    write("name", dialog.dataset.user);
  }
  part("error").textContent = "";
  second("");
  dialog.showModal();
  part(dialog.dataset.user ? "password" : "name").focus();
};
/* Values are set as typing sets them, because React keeps its own account of them. */
const write = (name, value) => {
  const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  setter.call(part(name), value);
  part(name).dispatchEvent(new Event("input", { bubbles: true }));
};
const enter = async () => {
  const dialog = part();
  const form = new URLSearchParams(
    ticket ? { ticket, code: part("code").value } : { name: part("name").value, password: part("password").value },
  );
  let answer = null;
  let said = {};
  part("enter").disabled = true;
  try {
    answer = await plainFetch("/sign-in", { method: "POST", body: form, headers: { Accept: "application/json" } });
    said = await answer.json();
  } catch {
    /* Said below: the server cannot be reached, or what it said cannot be read. */
  }
  part("enter").disabled = false;
  write("password", "");
  if (!answer?.ok) {
    /* The field for the code speaks for itself when it comes; a wrong code is told. */
    part("error").textContent = said.ticket && !ticket ? "" : said.detail || dialog.dataset.failed;
    second(said.ticket ?? "");
    part(ticket ? "code" : "password").focus();
  } else if (said.set_up) {
    /* Nothing is open before a second factor is set up. */
    window.location.assign(said.set_up);
  } else if (said.name !== dialog.dataset.user) {
    window.location.reload();
  } else {
    dialog.close();
  }
};
document.addEventListener("click", (event) => {
  if (event.target.closest?.("#signed-out-enter")) {
    enter();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches?.("#signed-out-name, #signed-out-password, #signed-out-code")) {
    event.preventDefault();
    enter();
  }
});

const isOurs = (address) => new URL(address, window.location.href).origin === window.location.origin;
const plainFetch = window.fetch.bind(window);
window.fetch = async (...given) => {
  const answer = await plainFetch(...given);
  if (answer.status !== 401 || !isOurs(answer.url)) {
    return answer;
  }
  ask();
  /* To a callback it is as if nothing had happened, so that the page stays as it is. */
  return new URL(answer.url).pathname === "/_dash-update-component" ? new Response(null, { status: 204 }) : answer;
};
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function sendAndLook(...given) {
  this.addEventListener("loadend", () => {
    if (this.status === 401 && isOurs(this.responseURL)) {
      ask();
    }
  });
  return send.apply(this, given);
};
