import "../shared/grid-theme.js";
import "../shared/lists.js";
