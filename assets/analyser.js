/* Analyser: the address names the text that is shown, so that it can be shared, without loading the page again. */
(() => {
  const name = (shown) => {
    if (shown) {
      window.history.replaceState(window.history.state, "", shown);
    }
    return window.dash_clientside.no_update;
  };
  window.dash_clientside = Object.assign({}, window.dash_clientside, { analyser: { name } });
})();
