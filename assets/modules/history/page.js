/* History: a list that the server searches and pages. */
import "../shared/lists.js";
