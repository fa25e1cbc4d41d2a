/* The files that are uploaded, what is set up for them, and how the page shows them while it is there. */
export const entries = [];
export const byJob = new Map();
export const setup = { accepted: [], archives: [], maxBytes: 0, partBytes: 0, tus: "" };
/* How the page shows it, while it is there. */
export const shown = {
  draw() {},
  drawSoon() {},
  drawAll() {},
  erase() {},
  summarise() {},
  offline() {},
  chooseFor() {},
};
export const endsWith = (name, endings) => endings.some((ending) => name.toLowerCase().endsWith(ending));

export const add = (entry) => {
  Object.assign(entry, { speed: null, hashing: null, checked: 0, stalls: 0, error: entry.error || null });
  entry.isArchive ||= endsWith(entry.name, setup.archives);
  entries.push(entry);
  if (entry.receipt?.job_id) {
    byJob.set(entry.receipt.job_id, entry);
  }
  return entry;
};

/* Two rows of one upload or job: the one that found it on the server goes. */
export const dropTwin = (entry, isTwin) => {
  const twin = entries.find((other) => other !== entry && isTwin(other));
  if (twin) {
    entries.splice(entries.indexOf(twin), 1);
    shown.erase(twin);
  }
};
