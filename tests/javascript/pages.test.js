import assert from "node:assert/strict";
import { test } from "node:test";
import { moduleOf } from "../../assets/modules/shell/pages.js";

const KNOWN = { "/": "ask/page.js", "/documents": "documents/page.js", "/documents/": "document/page.js" };

test("the module of a page is that of its address, not of an address above it", () => {
  assert.equal(moduleOf("/", KNOWN), "ask/page.js");
  assert.equal(moduleOf("/documents", KNOWN), "documents/page.js");
  assert.equal(moduleOf("/documents/a%20b.md", KNOWN), "document/page.js");
});

test("a page without a module has none, whatever stands below the first page", () => {
  assert.equal(moduleOf("/api-docs", KNOWN), "");
  assert.equal(moduleOf("/documentsx", KNOWN), "");
});
