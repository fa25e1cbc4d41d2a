/* Neurons: the text as its tokens, the slider, and playing along them. One token is chosen everywhere. */
import { quoted, text } from "../shared/texts.js";

const PER_SECOND = 4;
const MOST_BUTTONS = 4000;
const MOVES = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10, Home: -Infinity, End: Infinity };

/* A token as it can be seen: ends of lines and bytes of an unfinished character have signs of their own. */
const shown = (words) => words.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replaceAll("\ufffd", "▯") || "∅";

export class Tokens {
  /* choose: called with the token that somebody asks for */
  constructor({ texts, roles, total }, choose) {
    this.texts = texts;
    this.roles = roles;
    this.count = total;
    this.choose = choose;
    this.chosen = -1;
    this.drawText();
    this.drawSlider();
  }

  drawText() {
    const place = document.getElementById("neurons-text");
    this.buttons = [];
    place.replaceChildren();
    if (this.count > MOST_BUTTONS || !this.texts.some(Boolean)) {
      place.append(text("neurons.live.no_text", { count: this.count }));
      return;
    }
    this.texts.forEach((words, at) => {
      if (this.roles[at] !== this.roles[at - 1] && this.roles[at]) {
        const role = document.createElement("span");
        role.className = "neurons-role";
        role.textContent = text(this.roles[at] === "prompt" ? "neurons.live.prompt" : "neurons.live.answer");
        place.append(role);
      }
      const button = document.createElement("button");
      button.type = "button";
      button.className = `neurons-token neurons-token-${this.roles[at] === "prompt" ? "prompt" : "answer"}`;
      button.textContent = shown(words);
      button.setAttribute("aria-label", this.words(at));
      button.tabIndex = -1;
      button.addEventListener("click", () => this.choose(at));
      this.buttons.push(button);
      place.append(button);
      if (words.includes("\n")) {
        place.append(document.createElement("br"));
      }
    });
    place.onkeydown = (event) => this.move(event, true);
  }

  drawSlider() {
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 0;
    slider.max = this.count - 1;
    slider.setAttribute("aria-label", text("neurons.live.slider"));
    slider.addEventListener("input", () => this.choose(Number(slider.value)));
    document.getElementById("neurons-slider").replaceChildren(slider);
    this.slider = slider;
  }

  shown(at) {
    return this.texts[at] ? quoted(shown(this.texts[at]).trim() || shown(this.texts[at])) : "–";
  }

  words(at) {
    return text("neurons.live.token", { number: at + 1, count: this.count, words: this.shown(at) });
  }

  move(event, withFocus) {
    const by = MOVES[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    this.choose(Math.max(0, Math.min(this.count - 1, this.chosen + by)));
    if (withFocus) {
      this.buttons[this.chosen]?.focus({ preventScroll: true });
    }
  }

  show(token) {
    const before = this.buttons[this.chosen];
    if (before) {
      before.removeAttribute("aria-current");
      before.tabIndex = -1;
    }
    this.chosen = token;
    const button = this.buttons[token];
    if (button) {
      button.setAttribute("aria-current", "true");
      button.tabIndex = 0;
      const strip = button.parentElement;
      const top = button.offsetTop - strip.offsetTop;
      if (top < strip.scrollTop || top + button.offsetHeight > strip.scrollTop + strip.clientHeight) {
        strip.scrollTop = top - strip.clientHeight / 2;
      }
    }
    this.slider.value = token;
    this.slider.setAttribute("aria-valuetext", this.words(token));
    document.getElementById("neurons-token-said").textContent = this.words(token);
  }

  get isPlaying() {
    return Boolean(this.timer);
  }

  play(on) {
    window.clearInterval(this.timer);
    this.timer = 0;
    if (on) {
      if (this.chosen >= this.count - 1) {
        this.choose(0);
      }
      this.timer = window.setInterval(() => {
        if (this.chosen >= this.count - 1 || !this.slider.isConnected) {
          this.play(false);
        } else {
          this.choose(this.chosen + 1);
        }
      }, 1000 / PER_SECOND);
    }
    const button = document.querySelector('[data-neurons="play"]');
    if (button) {
      const label = text(on ? "neurons.live.pause" : "neurons.live.play");
      button.querySelector(".icon").className = `icon icon-${on ? "pause" : "play"}-fill`;
      button.querySelector(".visually-hidden").textContent = label;
      button.title = label;
      button.setAttribute("aria-pressed", String(on));
    }
  }
}
