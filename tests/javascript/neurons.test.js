import assert from "node:assert/strict";
import { test } from "node:test";
import { greatest, partOf, placeOfGreatest } from "../../assets/modules/neurons/recording.js";

test("the greatest of very many values is found, and its first place", () => {
  const many = Array.from({ length: 300_000 }, (_, at) => at % 1000);
  assert.equal(greatest(many), 999);
  assert.equal(greatest([], 1), 1);
  assert.equal(placeOfGreatest([1, 3, 3]), 1);
});

test("the server is asked for a layer and a kind where they are not all", () => {
  assert.equal(String(partOf("all", "all")), "");
  assert.equal(String(partOf("3", "all")), "layer=3");
  assert.equal(String(partOf("3", "key")), "layer=3&kind=key");
});
