/* The window: what every page needs, then the module of the page at the address, then Dash. */
import "./shell/account.js";
import "./shell/connection.js";
import "./shell/frame.js";
import "./shell/grid.js";
import "./shell/typed.js";
import { ready } from "./shell/pages.js";

/* Dash begins in any case: the callback that brings the page asks again for what did not come, and says so. */
await ready(window.location.pathname).catch(() => {});
window.renderer = new window.DashRenderer();
