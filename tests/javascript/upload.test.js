import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { documentsIn } from "../../assets/modules/shared/files.js";
import { isFiledAlike, saidOf } from "../../assets/modules/upload/kept.js";

const WORKER = readFileSync(new URL("../../assets/modules/upload/sha256.js", import.meta.url), "utf8");

const names = (paths) =>
  documentsIn(paths.map((path) => ({ name: path.split("/").at(-1), webkitRelativePath: path }))).map(
    ({ name }) => name,
  );

test("files of one name are told apart by their folders, and leftovers of systems are passed over", () => {
  assert.deepEqual(names(["a/one.md", "b/one.md", "b/two.md", "b/.DS_Store"]), ["a - one.md", "b - one.md", "two.md"]);
  assert.deepEqual(names(["one.md"]), ["one.md"]);
});

test("two uploads are filed alike whatever the order of their tags and the way a time is written", () => {
  const one = { tags: ["a", "a"], filing: { note: " n ", publish_at: "2026-01-01T00:00:00Z" } };
  const other = { tags: ["a"], filing: { publish_at: "2026-01-01T09:00:00+09:00", note: "n" } };
  assert.equal(isFiledAlike(one, other), true);
  assert.equal(isFiledAlike(one, { ...other, tags: ["b"] }), false);
});

test("what the server keeps of an upload is read as it was said", () => {
  assert.deepEqual(saidOf({ tags: ["a"], actor: "x", draft: true, note: "" }), {
    tags: ["a"],
    filing: { draft: "true" },
  });
});

const hashed = (content) =>
  new Promise((resolve) => {
    const self = { postMessage: (said) => said.bytes === undefined && resolve(said) };
    runInNewContext(WORKER, { self, Math, Int32Array, Uint8Array, DataView, BigInt, Array });
    self.onmessage({ data: new Blob([content]) });
  });

test("the worker's SHA-256 is that of others at every length about the end of a block, and over several pieces", async () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 4 * 1024 * 1024 + 77]) {
    const content = Uint8Array.from({ length }, (_, at) => (at * 31 + 7) % 251);
    assert.deepEqual(
      { ...(await hashed(content)) },
      { hex: createHash("sha256").update(content).digest("hex") },
      `${length}`,
    );
  }
});

test("a file that cannot be read any more is told by the name of its error", async () => {
  const self = {};
  const said = new Promise((resolve) => {
    self.postMessage = resolve;
  });
  runInNewContext(WORKER, { self, Math, Int32Array, Uint8Array, DataView, BigInt, Array });
  self.onmessage({
    data: { size: 1, slice: () => ({ arrayBuffer: () => Promise.reject(new DOMException("", "NotReadableError")) }) },
  });
  assert.equal((await said).error, "NotReadableError");
});
