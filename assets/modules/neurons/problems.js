/* Neurons: what went wrong, said where it went wrong. */
import { sentences, text } from "../shared/texts.js";

export const problemOf = (error) => (error.problem?.title ? error.problem : { title: text("neurons.live.offline") });

export const fail = (place, error, again) => {
  const problem = error.problem ? problemOf(error) : { title: error.message };
  const line = document.createElement("div");
  line.className = "error-line";
  const words = document.createElement("span");
  words.textContent = sentences([problem.title, problem.detail, problem.remedy]);
  const code = document.createElement("code");
  code.textContent = problem.code || "";
  const button = document.createElement("button");
  Object.assign(button, {
    type: "button",
    className: "btn btn-secondary btn-sm",
    textContent: text("neurons.live.again"),
  });
  button.addEventListener("click", again);
  line.append(words, " ", code, " ", button);
  place.replaceChildren(line);
  document.querySelectorAll("#neurons [aria-busy]").forEach((each) => each.removeAttribute("aria-busy"));
};
