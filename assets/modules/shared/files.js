/* Which files were dropped or chosen: folders are read to the bottom, and what systems leave in them is passed over.
   Each is given as {file, name}: where two of one drop share a name, their folders stand in front, as in an archive. */
const NOT_DOCUMENTS = new Set([".ds_store", "thumbs.db", "desktop.ini"]);

const named = (found) => {
  const kept = found.filter(({ file }) => !NOT_DOCUMENTS.has(file.name.toLowerCase()));
  const count = new Map();
  for (const { file } of kept) {
    count.set(file.name, (count.get(file.name) || 0) + 1);
  }
  return kept.map(({ file, folders }) => ({
    file,
    name: count.get(file.name) > 1 ? [...folders, file.name].join(" - ") : file.name,
  }));
};
const foldersOf = (path) => path.split("/").filter(Boolean).slice(0, -1);
export const documentsIn = (files) =>
  named(files.map((file) => ({ file, folders: foldersOf(file.webkitRelativePath || "") })));

const readEntry = (entry, folders = []) =>
  new Promise((resolve) => {
    if (entry.isFile) {
      entry.file(
        (file) => resolve([{ file, folders }]),
        () => resolve([]),
      );
      return;
    }
    const reader = entry.createReader();
    const found = [];
    const more = () =>
      reader.readEntries(
        async (batch) => {
          if (batch.length === 0) {
            resolve((await Promise.all(found.map((each) => readEntry(each, [...folders, entry.name])))).flat());
          } else {
            found.push(...batch);
            more();
          }
        },
        () => resolve([]),
      );
    more();
  });
/* What a drop brought. Entries must be asked for before the first pause: the browser forgets them then. */
export const filesOf = async (transfer) => {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const tree = items.map((item) => item.webkitGetAsEntry?.());
  if (tree.some((entry) => entry?.isDirectory)) {
    return named((await Promise.all(tree.filter(Boolean).map((entry) => readEntry(entry)))).flat());
  }
  return documentsIn([...transfer.files]);
};
