/* Dash: its callbacks that run in the browser, the properties of its components, its way from page to page, and what it
   is about to draw. */
export const skip = () => window.dash_clientside.no_update;
export const setProps = (id, props) => window.dash_clientside.set_props(id, props);

/* Give Dash functions by their namespaces, as ClientsideFunction names them in app/. */
export const offer = (namespaces) => {
  window.dash_clientside = Object.assign({}, window.dash_clientside, namespaces);
};

/* To another page of ours, as its links lead there. */
export const go = (path) => {
  window.history.pushState({}, "", path);
  window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
  window.scrollTo(0, 0);
};

/* What is on its way to the page is looked for until it is there, and brought into view. */
export const whenThere = (find, tries, then) => {
  const target = find();
  if (target) {
    target.scrollIntoView({ block: "center" });
    then?.(target);
  } else if (tries > 0) {
    window.setTimeout(() => whenThere(find, tries - 1, then), 50);
  }
};
