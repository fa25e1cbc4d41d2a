/* Analyser: the address names the text that is shown, so that it can be shared, without loading the page again. */
import { offer, skip } from "../shared/dash.js";

const name = (shown) => {
  if (shown) {
    window.history.replaceState(window.history.state, "", shown);
  }
  return skip();
};
offer({ analyser: { name } });
