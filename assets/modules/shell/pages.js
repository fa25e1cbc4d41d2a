/* The module of a page is loaded when the page is asked for, and stays: an upload goes on while other pages are shown.
   Which module belongs to which address the server says; an address that ends with a slash stands for all below it. */
const TRIES_MS = [0, 500];
const loading = new Map();
let pages;

export const moduleOf = (path, known) => {
  const above = Object.keys(known).filter((each) => each !== "/" && each.endsWith("/") && path.startsWith(each));
  return known[path] ?? known[above[0]] ?? "";
};

const fetched = async (name) => {
  for (const wait of TRIES_MS) {
    await new Promise((resolve) => window.setTimeout(resolve, wait));
    try {
      return await import(`../${name}`);
    } catch (error) {
      if (wait === TRIES_MS.at(-1)) {
        loading.delete(name);
        throw error;
      }
    }
  }
};

/* Done when the page at the address has its scripts. */
export const ready = async (path) => {
  pages ||= JSON.parse(document.querySelector('meta[name="evorag-pages"]').content);
  const name = moduleOf(path, pages);
  if (name && !loading.has(name)) {
    loading.set(name, fetched(name));
  }
  await loading.get(name);
};
