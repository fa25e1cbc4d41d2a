/* The files that are uploaded: three at a time go out by tus, and each is followed through the checks of the server and
   the stages of indexing. The list lives here, not in the page, so sending goes on while other pages are shown. */
import { add, byJob, dropTwin, endsWith, entries, setup, shown } from "./entries.js";
import { followArchives, followJobs, POLLED_FIRST } from "./following.js";
import { drop, ENDPOINT, mayOvercome, problem, Rate, Transmission } from "./send.js";
import { request } from "../jobs/rows.js";
import * as keeping from "./kept.js";
import { size, text } from "../shared/texts.js";

const AT_ONCE = 3;
const POLL_MS = 400;
const SLOTS = new Set(["sending", "stalled"]);

let restored = false;
let isComplete = false;

/* ---- found again after a reload -------------------------------------------------------------------------------------- */
export const restore = () => {
  if (restored) {
    return;
  }
  restored = true;
  for (const { name, bytes, receipt, filing, isArchive } of keeping.remembered()) {
    add({ name, bytes, receipt, filing, isArchive, sent: 1, state: receipt.job_id ? "job" : "received" });
  }
  shown.drawAll();
};
/* What the server knows and this list does not; asked for until it has answered once. */
let asking = null;
const complete = () => {
  if (!restored || isComplete) {
    return Promise.resolve();
  }
  asking ||= (async () => {
    try {
      await restoreUnfinished();
      await restoreJobs();
      isComplete = true;
      shown.drawAll();
    } finally {
      asking = null;
    }
  })();
  return asking;
};
const restoreUnfinished = async () => {
  const { uploads: unfinished } = await request(ENDPOINT);
  const held = await keeping.heldElsewhere();
  const own = new Set(entries.map((entry) => entry.url));
  for (const transfer of unfinished.reverse()) {
    const url = `${ENDPOINT}/${transfer.id}`;
    if (!transfer.is_partial && !own.has(url) && !held.has(`evorag ${url}`)) {
      const bytes = transfer.size_bytes;
      const sent = bytes ? transfer.offset_bytes / bytes : 0;
      const entry = add({ name: transfer.name, bytes, url, state: "found", sent, ...keeping.saidOf(transfer.filing) });
      if (transfer.state !== "receiving") {
        follow(entry, transfer);
      }
    }
  }
};
const restoreJobs = async () => {
  const { jobs } = await request("/api/v1/jobs?active=1&limit=500");
  const parents = [...new Set(jobs.map((job) => job.parent_id).filter(Boolean))];
  const archives = parents.length ? (await request(`/api/v1/jobs?ids=${parents.slice(0, 100).join(",")}`)).jobs : [];
  for (const job of [...jobs.filter((each) => !each.parent_id), ...archives].reverse()) {
    if (!byJob.has(job.id)) {
      const receipt = { outcome: "new", doc_key: job.doc_key, version: job.version, job_id: job.id };
      add({ name: job.name, bytes: null, receipt, sent: 1, state: "job", job, isArchive: job.kind === "unpack" });
    }
  }
};

/* ---- taking files ------------------------------------------------------------------------------------------------------ */
const refusal = (file) => {
  if (!endsWith(file.name, [...setup.accepted, ...setup.archives])) {
    return problem("unsupported_type");
  }
  return file.size > setup.maxBytes ? problem("too_large", text("upload.limit", { size: size(setup.maxBytes) })) : null;
};
export const take = (found, tags, filing) => {
  const first = entries.length;
  /* What was begun otherwise filed is not gone on with: a private file must not become a shared one. */
  const fits = (entry, { file, name }) =>
    entry.state === "found" &&
    entry.name === name &&
    isSame(entry, file) &&
    keeping.isFiledAlike(entry, { tags, filing });
  for (const { file, name } of found) {
    const unfinished = entries.find((entry) => fits(entry, { file, name }));
    if (unfinished) {
      continueWith(unfinished, file);
    } else {
      const error = refusal(file);
      add({ name, bytes: file.size, file, tags, filing, sent: 0, state: error ? "refused" : "waiting", error });
    }
  }
  shown.drawAll(Math.max(0, first - 1));
  complete()
    .catch(() => undefined)
    .then(sendNext);
};

/* ---- going on after a reload: the browser forgot the file, the server did not forget its bytes ----------------------- */
const isSame = (entry, file) => {
  const modified = keeping.modifiedOf(entry.url);
  return file.size === entry.bytes && (modified === undefined || modified === file.lastModified);
};
export const continueWith = (entry, file) => {
  if (file.size !== entry.bytes) {
    const detail = text("upload.found.sizes", { size: size(file.size), expected: size(entry.bytes) });
    entry.error = { title: text("upload.found.other"), detail, remedy: text("upload.found.remedy"), code: "" };
    shown.draw(entry);
    return;
  }
  if (!isSame(entry, file)) {
    drop(entry.url);
    keeping.rememberFile(entry.url, null);
    Object.assign(entry, { url: null, sent: 0 });
  }
  Object.assign(entry, { file, error: null, state: "waiting" });
  shown.draw(entry);
  sendNext();
};

/* ---- sending ------------------------------------------------------------------------------------------------------------- */
const sendNext = () => {
  const busy = entries.filter((entry) => SLOTS.has(entry.state)).length;
  entries
    .filter((entry) => entry.state === "waiting")
    .slice(0, Math.max(0, AT_ONCE - busy))
    .forEach(send);
};
const metadataOf = ({ file, tags, filing }) => ({
  ...filing,
  ...(file.type ? { filetype: file.type } : {}),
  ...(tags.length ? { tags: JSON.stringify(tags) } : {}),
});
const send = (entry) => {
  Object.assign(entry, { state: "sending", error: null, hashing: null, speed: null, rate: new Rate() });
  entry.transmission ||= new Transmission(
    entry.file,
    entry.name,
    { url: entry.url, metadata: metadataOf(entry), partBytes: setup.partBytes, tus: setup.tus },
    {
      url: (url) => {
        if (entry.url) {
          keeping.rememberFile(entry.url, null);
        }
        entry.url = url;
        if (url) {
          keeping.rememberFile(url, entry.file.lastModified);
          dropTwin(entry, (other) => other.url === url);
        }
        keeping.hold(entry);
      },
      moved: (bytes) => {
        entry.sent = entry.bytes ? bytes / entry.bytes : 1;
        entry.speed = entry.rate.mark(bytes);
        Object.assign(entry, { state: "sending", stalls: entry.state === "stalled" ? 0 : entry.stalls, hashing: null });
        shown.drawSoon(entry);
      },
      hashing: (share) => {
        entry.hashing = share;
        shown.drawSoon(entry);
      },
      stalled: (reason) => {
        Object.assign(entry, { state: "stalled", reason, stalls: entry.stalls + 1, speed: null, rate: new Rate() });
        shown.draw(entry);
        shown.summarise();
      },
      lost: (sha256) => lost(entry, sha256),
      received: (transfer) => {
        Object.assign(entry, { sent: 1, transmission: null });
        follow(entry, transfer);
        sendNext();
      },
      refused: (error, again) => {
        refuse(entry, error, again);
        sendNext();
      },
    },
  );
  shown.draw(entry);
  entry.transmission.start();
};
/* The answer to a creation was lost: the upload may be there all the same. */
const lost = async (entry, sha256) => {
  try {
    const { uploads: unfinished } = await request(ENDPOINT);
    const held = await keeping.heldElsewhere();
    const own = new Set(entries.map((each) => each.url));
    const isFree = (url) => !own.has(url) && !held.has(`evorag ${url}`);
    const found = unfinished.find(
      ({ id, name, size_bytes: bytes, is_partial: isPartial, sha256: said, filing }) =>
        name === entry.name &&
        bytes === entry.bytes &&
        !isPartial &&
        said === (sha256 || null) &&
        isFree(`${ENDPOINT}/${id}`) &&
        keeping.isFiledAlike(entry, keeping.saidOf(filing)),
    );
    return found ? `${ENDPOINT}/${found.id}` : null;
  } catch {
    return null;
  }
};
const refuse = (entry, error, again) => {
  Object.assign(entry, { state: "refused", error, again });
  shown.draw(entry);
  shown.summarise();
};

/* What the server says of a file whose bytes it has. */
const follow = (entry, transfer) => {
  if (transfer?.state === "done" && transfer.receipt) {
    forget(entry);
    const state = transfer.receipt.job_id ? "job" : "received";
    Object.assign(entry, { file: null, error: null, receipt: transfer.receipt, state });
    if (entry.receipt.job_id) {
      dropTwin(entry, (other) => other.receipt?.job_id === entry.receipt.job_id && entry.receipt.outcome === "new");
      byJob.set(entry.receipt.job_id, entry);
    }
    keeping.remember(entries);
  } else if (transfer?.state === "refused") {
    forget(entry);
    refuse(entry, transfer.error, Boolean(entry.file) && mayOvercome(transfer.error));
  } else {
    Object.assign(entry, { state: "checking", error: transfer?.error || null });
    entry.checked = transfer && entry.bytes ? transfer.checked_bytes / entry.bytes : 0;
  }
  shown.draw(entry);
  shown.summarise();
};
const forget = (entry) => {
  if (entry.url) {
    keeping.rememberFile(entry.url, null);
  }
  entry.url = null;
  keeping.hold(entry);
};

/* ---- following: files that are checked, jobs, and the files of archives ------------------------------------------------- */
const followChecks = async () => {
  const checking = entries.filter((entry) => entry.state === "checking").slice(0, POLLED_FIRST);
  if (!checking.length) {
    return;
  }
  const idOf = (entry) => entry.url.slice(entry.url.lastIndexOf("/") + 1);
  const { uploads: known } = await request(`${ENDPOINT}?ids=${checking.map(idOf).join(",")}`);
  const byId = new Map(known.map((transfer) => [transfer.id, transfer]));
  for (const entry of checking) {
    const transfer = byId.get(idOf(entry));
    if (transfer) {
      follow(entry, transfer);
    } else {
      forget(entry);
      refuse(entry, problem("expired"), Boolean(entry.file));
    }
  }
};
const poll = async () => {
  if (!document.hidden) {
    try {
      await followChecks();
      await followJobs();
      await followArchives();
      await complete();
      shown.offline(false);
    } catch {
      shown.offline(true);
    }
    shown.summarise();
  }
  window.setTimeout(poll, POLL_MS);
};

/* ---- what can be done with a row ------------------------------------------------------------------------------------------ */
const remove = (entry) => {
  if (entry.transmission) {
    entry.transmission.cancel();
  } else if (entry.url) {
    drop(entry.url);
  }
  forget(entry);
  entries.splice(entries.indexOf(entry), 1);
  byJob.delete(entry.receipt?.job_id);
  shown.erase(entry);
  keeping.remember(entries);
  shown.summarise();
  sendNext();
};
const pause = (entry) => {
  entry.transmission?.pause();
  Object.assign(entry, { state: "paused", speed: null });
  shown.draw(entry);
  shown.summarise();
  sendNext();
};
const resume = (entry) => {
  if (entry.state === "refused" && !entry.url) {
    Object.assign(entry, { sent: 0, transmission: null });
  }
  Object.assign(entry, { state: "waiting", error: null, stalls: 0 });
  shown.draw(entry);
  shown.summarise();
  sendNext();
};
export const acts = {
  remove,
  pause,
  resume,
  now: (entry) => entry.transmission?.retry?.(),
  choose: (entry) => shown.chooseFor(entry),
  changed: (entry, job) => {
    entry.job = job;
    shown.draw(entry);
    shown.summarise();
  },
};

poll();
