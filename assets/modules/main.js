/* The window: what every page needs, then the module of the page at the address, then Dash. */
import "./shell/account.js";
import "./shell/connection.js";
import "./shell/frame.js";
import "./shell/grid.js";
import "./shell/times.js";
import "./shell/typed.js";
import { ready } from "./shell/pages.js";

/* A page without its scripts is better than none; the banner says that the server is lost. */
await ready(window.location.pathname).catch(() => {});
window.renderer = new window.DashRenderer();
