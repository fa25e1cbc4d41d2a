/* Evaluate: questions go to the server as a file, chosen or pasted; the server finds out how it is encoded. */
import { offer, setProps, skip } from "../shared/dash.js";

const set = (id, props) => setProps(id, props);
let chosen = null;
/* Dash has no component for a plain field of files, which is what keyboards and screen readers know best. */
const furnish = () => {
  const place = document.querySelector("[data-evaluate-picker]:empty");
  if (!place) {
    return;
  }
  chosen = null;
  const label = document.createElement("label");
  label.className = "form-label";
  label.htmlFor = "evaluate-files";
  label.textContent = place.dataset.evaluatePicker;
  const field = document.createElement("input");
  field.type = "file";
  field.id = "evaluate-files";
  field.className = "form-control";
  field.accept = ".csv,.tsv,.jsonl,.json,.ndjson,.txt";
  field.addEventListener("change", () => {
    chosen = field.files[0] ?? null;
    set("evaluate-file", { data: chosen && { name: chosen.name, size: chosen.size } });
  });
  place.append(label, field);
};
new MutationObserver(furnish).observe(document.documentElement, { childList: true, subtree: true });
furnish();

const formOf = (file, lines) =>
  (file ? /\.(jsonl|json|ndjson)$/i.test(file.name) : lines.trimStart().startsWith("{")) ? "jsonl" : "csv";
const working = (is) => set("evaluate-import", { className: is ? "btn btn-primary is-working" : "btn btn-primary" });
const send = async (clicks, name, lines, shared) => {
  if (!clicks) {
    return skip();
  }
  if (!chosen && !lines?.trim()) {
    return { missing: "lines" };
  }
  if (!name?.trim()) {
    return { missing: "name" };
  }
  const form = new FormData();
  form.append("name", name.trim());
  form.append("form", formOf(chosen, lines ?? ""));
  form.append("shared", shared === false ? "false" : "true");
  form.append("file", chosen ?? new File([lines], "lines.txt", { type: "text/plain" }));
  working(true);
  try {
    const answer = await fetch("/api/v1/question-sets", { method: "POST", body: form });
    const said = await answer.json();
    return answer.ok ? { set: said } : { refused: { code: said.code, message: said.detail, remedy: said.remedy } };
  } catch {
    return { refused: { code: "unreachable" } };
  } finally {
    working(false);
  }
};
offer({ evaluate: { send } });
