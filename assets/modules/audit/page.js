/* Audit: which publications are listed the address says. */
import { go, offer, skip } from "../shared/dash.js";

const listen = (doc, action) => {
  const wanted = new URLSearchParams(Object.entries({ doc, action }).filter(([, value]) => value)).toString();
  const now = new URLSearchParams(window.location.search);
  const present = new URLSearchParams([...now].filter(([name]) => name === "doc" || name === "action")).toString();
  if (window.location.pathname === "/audit" && wanted !== present) {
    go(wanted ? `/audit?${wanted}` : "/audit");
  }
  return skip();
};

offer({ audit: { listen } });
