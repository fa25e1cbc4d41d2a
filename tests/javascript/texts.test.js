import assert from "node:assert/strict";
import { test } from "node:test";
import { speak } from "./language.js";

speak("en");
const { bound, day, instant, quoted, relative, sentences, size, text } = await import(
  "../../assets/modules/shared/texts.js"
);
const { meaning, remaining, shares, STAGES } = await import("../../assets/modules/jobs/rows.js");

test("a message has its number in the form that English has for it", () => {
  assert.equal(text("job.retried", { count: 1 }), "One job was started again.");
  assert.equal(text("job.retried", { count: 1200 }), "1,200 jobs were started again.");
  assert.equal(text("no.such.key"), "no.such.key");
});

test("a value with braces stays as it is", () => {
  assert.match(text("job.of", { stage: "{done}", done: 1, total: 2 }), /\{done\}/);
});

test("sizes are read as the server writes them", () => {
  assert.deepEqual([0, 1023, 1536, 512 * 2 ** 20, 3 * 2 ** 40].map(size), [
    "0 B",
    "1023 B",
    "1.5 KB",
    "512 MB",
    "3072 GB",
  ]);
});

test("times are relative until a month has passed", () => {
  const ago = (seconds) => relative(new Date(Date.now() - 1000 * seconds));
  assert.equal(ago(2), "now");
  assert.equal(ago(59.5), "59 seconds ago");
  assert.equal(ago(3600 + 1), "1 hour ago");
  assert.match(ago(86400 * 31), /\d{4}/);
});

test("Japanese times have no blank between figure and unit", () => {
  document.documentElement.lang = "ja";
  const at = new Date(Date.now() - 61_000);
  assert.deepEqual([relative(at), relative(at, "short")], ["1分前", "1分前"]);
  document.documentElement.lang = "en";
});

test("a day has its year where that is another one", () => {
  const year = new Date().getFullYear();
  assert.equal(day(new Date(year, 10, 28, 23)), "Nov 28");
  assert.equal(day(new Date(year - 1, 10, 28)), `Nov 28, ${year - 1}`);
});

test("a moment that is none is no instant", () => {
  assert.equal(instant("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00.000Z");
  assert.equal(instant("soon"), null);
  assert.equal(instant(undefined), null);
});

test("sentences and quotes are those of the language", () => {
  assert.equal(sentences(["One.", "", "Two."]), "One. Two.");
  assert.equal(quoted("x"), "“x”");
});

test("the time left is said in the unit that fits, and not at all where nobody knows", () => {
  assert.equal(remaining(null), "");
  assert.deepEqual([0.2, 59, 61, 5400].map(remaining), [
    text("job.left.seconds", { count: 1 }),
    text("job.left.seconds", { count: 59 }),
    text("job.left.minutes", { count: 1 }),
    text("job.left.hours", { count: 2 }),
  ]);
});

test("a job says the count or the share of what it does, and when it recognises text", () => {
  const job = { state: "running", stage: "parsing", done: 3, total: 12, share: 0.1, seconds_left: 60 };
  assert.equal(meaning(job)[1], "Reading 3 of 12 · 1 min left");
  assert.equal(meaning({ ...job, resources: { peak_pictures: 12 } })[1], "Recognising text 3 of 12 · 1 min left");
  assert.equal(meaning({ ...job, resources: { peak_pictures: 12 }, total: 40 })[1], "Reading 3 of 40 · 1 min left");
  assert.equal(meaning(job)[0], "working");
  assert.equal(meaning({ ...job, state: "failed" })[0], "error");
  assert.equal(meaning({ ...job, done: 0, total: 0 })[1], "Reading · 10% · 1 min left");
});

test("the bars of a job are full up to its stage, and say where nobody knows how far it is", () => {
  const at = STAGES.indexOf("embedding");
  const bars = (job) => shares({ stage: "embedding", state: "running", done: 0, total: 0, ...job });
  assert.equal(bars({ done: 3, total: 4 })[at], 0.75);
  assert.equal(bars({})[at], -1);
  assert.deepEqual(
    bars({ done: 3, total: 4 }).slice(0, at),
    STAGES.slice(0, at).map(() => 1),
  );
  assert.deepEqual(
    bars({ state: "done" }),
    STAGES.map(() => 1),
  );
});

test("a stretch of days is told by its days, and one that begins or ends within a day by the time as well", () => {
  const year = new Date().getFullYear();
  assert.equal(bound(new Date(year, 9, 1)), "Oct 1");
  assert.equal(bound(new Date(year, 9, 31, 23, 59, 59, 999)), "Oct 31");
  assert.match(bound(new Date(year, 9, 1, 9)), /^Oct 1, \d{4}, 9:00/);
});
