/* What a reload must not lose: which files the server has, which uploads are unfinished and of which file, and which of
   them another window of this browser is sending. */
const STORE = "evorag-uploads";
const UNFINISHED = "evorag-unfinished";
const KEPT = 500;

const kept = (store, name, otherwise) => {
  try {
    return JSON.parse(store.getItem(name)) || otherwise;
  } catch {
    return otherwise;
  }
};
const keep = (store, name, value) => {
  try {
    store.setItem(name, JSON.stringify(value));
  } catch {
    /* full or forbidden: the server still lists everything */
  }
};
export const remember = (entries) => {
  const received = entries.filter((entry) => entry.receipt).slice(-KEPT);
  const what = ({ name, bytes, receipt, filing, isArchive }) => ({ name, bytes, receipt, filing, isArchive });
  keep(sessionStorage, STORE, received.map(what));
};
export const remembered = () => kept(sessionStorage, STORE, []);

/* When the file of an unfinished upload was changed last: by that a file chosen again is known for the same. */
export const rememberFile = (url, modified) => {
  const known = kept(localStorage, UNFINISHED, {});
  if (modified === null) {
    delete known[url];
  } else {
    known[url] = modified;
  }
  keep(localStorage, UNFINISHED, known);
};
/* Windows of one browser tell each other by locks which uploads they send. */
export const hold = (entry) => {
  entry.release?.();
  entry.release = null;
  if (entry.url) {
    const until = new Promise((resolve) => {
      entry.release = resolve;
    });
    navigator.locks?.request(`evorag ${entry.url}`, () => until);
  }
};
export const heldElsewhere = async () =>
  new Set(((await navigator.locks?.query())?.held || []).map((lock) => lock.name));

/* What the server keeps of what was said of an upload, as it was said; and whether two were said to be filed alike. */
export const saidOf = ({ tags, actor, ...said }) => ({
  tags,
  filing: Object.fromEntries(
    Object.entries(said)
      .filter(([, value]) => value)
      .map(([name, value]) => [name, String(value)]),
  ),
});
const plain = ({ tags = [], filing = {} }) => {
  const said = Object.entries(filing).map(([name, value]) => [
    name,
    name === "publish_at" ? Date.parse(value) : value.trim(),
  ]);
  return JSON.stringify([[...new Set(tags)], said.filter(([, value]) => value).sort()]);
};
export const isFiledAlike = (one, other) => plain(one) === plain(other);
export const modifiedOf = (url) => kept(localStorage, UNFINISHED, {})[url];
