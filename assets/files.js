/* Which files were dropped or chosen: folders are read to the bottom, and what systems leave in them is passed over. */
(() => {
  const NOT_DOCUMENTS = new Set([".ds_store", "thumbs.db", "desktop.ini"]);

  const documentsIn = (files) => files.filter((file) => !NOT_DOCUMENTS.has(file.name.toLowerCase()));

  const readEntry = (entry) =>
    new Promise((resolve) => {
      if (entry.isFile) {
        entry.file((file) => resolve([file]), () => resolve([]));
        return;
      }
      const reader = entry.createReader();
      const found = [];
      const more = () =>
        reader.readEntries(async (batch) => {
          if (batch.length === 0) {
            resolve((await Promise.all(found.map(readEntry))).flat());
          } else {
            found.push(...batch);
            more();
          }
        }, () => resolve([]));
      more();
    });
  /* What a drop brought. Entries must be asked for before the first pause: the browser forgets them then. */
  const filesOf = async (transfer) => {
    const items = [...transfer.items].filter((item) => item.kind === "file");
    const tree = items.map((item) => item.webkitGetAsEntry?.());
    if (tree.some((entry) => entry?.isDirectory)) {
      return documentsIn((await Promise.all(tree.filter(Boolean).map(readEntry))).flat());
    }
    return documentsIn([...transfer.files]);
  };

  Object.assign(window.evorag, { documentsIn, filesOf });
})();
