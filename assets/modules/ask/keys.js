/* The box of the question: Enter sends it, Escape leaves it. */
const SEND_KEY = "Enter";

document.addEventListener("keydown", (event) => {
  const inBox = event.target.id === "ask-question";
  if (inBox && event.key === SEND_KEY && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
    event.preventDefault();
    document.getElementById("ask-send")?.click();
  } else if (inBox && event.key === "Escape" && !event.defaultPrevented) {
    event.target.blur();
  }
});
