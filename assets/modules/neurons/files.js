/* Neurons: recordings are sent, renamed and deleted here. */
import { json, request } from "./recording.js";
import { problemOf } from "./problems.js";
import { go } from "../shared/dash.js";
import { sentences, size, text } from "../shared/texts.js";

const say = (id, problem) => {
  const place = document.getElementById(id);
  if (place) {
    const words = typeof problem === "string" ? problem : sentences([problem.title, problem.detail, problem.remedy]);
    place.textContent = words;
    place.className = typeof problem === "string" ? "hint" : "error-line";
  }
};
const show = (id) => go(id ? `/neurons?recording=${encodeURIComponent(id)}` : "/neurons");

const upload = () => {
  const field = document.createElement("input");
  field.type = "file";
  field.accept = ".pt";
  field.addEventListener("change", async () => {
    const [file] = field.files;
    if (!file) {
      return;
    }
    say("neurons-upload-said", text("neurons.live.sending", { name: file.name, size: size(file.size) }));
    const form = new FormData();
    form.append("file", file);
    try {
      const kept = await json("/api/v1/recordings", { method: "POST", body: form });
      show(kept.id);
    } catch (error) {
      say("neurons-upload-said", problemOf(error));
    }
  });
  field.click();
};

const open = (name) => document.getElementById(`neurons-${name}-dialog`)?.showModal();
const pathOf = () => `/api/v1/recordings/${encodeURIComponent(document.getElementById("neurons").dataset.recording)}`;

const rename = () => {
  const place = document.getElementById("neurons-name");
  const label = document.createElement("label");
  label.className = "form-label";
  label.textContent = place.dataset.label;
  label.htmlFor = "neurons-new-name";
  const field = document.createElement("input");
  Object.assign(field, {
    id: "neurons-new-name",
    className: "form-control",
    value: place.dataset.name,
    maxLength: 200,
    autocomplete: "off",
  });
  field.addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing && renameNow());
  place.replaceChildren(label, field);
  open("rename");
  field.select();
};
const renameNow = async () => {
  const name = document.getElementById("neurons-new-name").value;
  try {
    const kept = await json(pathOf(), {
      method: "PATCH",
      body: JSON.stringify({ name }),
      headers: { "Content-Type": "application/json" },
    });
    document.getElementById("neurons-rename-dialog").close();
    document.getElementById("neurons-name").dataset.name = kept.name;
    document.querySelectorAll(`#neurons-recording option[value="${CSS.escape(kept.id)}"]`).forEach((option) => {
      option.textContent = kept.name;
    });
  } catch (error) {
    say("neurons-rename-said", problemOf(error));
  }
};
const deleteNow = async () => {
  try {
    await request(pathOf(), { method: "DELETE" });
    document.getElementById("neurons-delete-dialog").close();
    show("");
  } catch (error) {
    say("neurons-delete-said", problemOf(error));
  }
};

const actions = {
  upload,
  rename,
  delete: () => open("delete"),
  "rename-confirm": renameNow,
  "delete-confirm": deleteNow,
};
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-neurons]");
  actions[button?.dataset.neurons]?.();
});
/* A menu of downloads closes when something else is pressed, or something in it. */
document.addEventListener("click", (event) => {
  document.querySelectorAll(".neurons .menu[open]").forEach((menu) => {
    if (!menu.contains(event.target) || event.target.closest("li")) {
      menu.open = false;
    }
  });
});
