/* The window: what every page needs, then the module of the page at the address, then Dash. A page that comes later is
   drawn when its module is there, so that its callbacks, its cells and its listeners are never late. */
import { ready } from "./shell/pages.js";

const CALLBACK = "/_dash-update-component";
const beneath = window.fetch.bind(window);
window.fetch = async (...given) => {
  if (!String(given[0]?.url ?? given[0]).includes(CALLBACK)) {
    return beneath(...given);
  }
  const [answer] = await Promise.all([beneath(...given), ready(window.location.pathname)]);
  return answer;
};

/* A page without its scripts is better than none; the banner says that the server is lost. */
await ready(window.location.pathname).catch(() => {});
window.renderer = new window.DashRenderer();
