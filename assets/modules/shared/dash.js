/* What Dash asks of us and offers us: callbacks that run in the browser, and the properties of its components. */
export const skip = () => window.dash_clientside.no_update;
export const setProps = (id, props) => window.dash_clientside.set_props(id, props);

/* Give Dash functions by their namespaces, as ClientsideFunction names them in app/. */
export const offer = (namespaces) => {
  window.dash_clientside = Object.assign({}, window.dash_clientside, namespaces);
};
