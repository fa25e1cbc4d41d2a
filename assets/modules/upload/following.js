/* The jobs of files that have arrived, and those of the files within archives, as far as they are. */
import { byJob, entries, shown } from "./entries.js";
import { isFinished } from "./rows.js";
import { FINISHED, request } from "../jobs/rows.js";

const CHILDREN_MS = 800;
const CHILDREN_LIMIT = 1000;
export const POLLED_FIRST = 60;
const POLLED_NEXT = 20;
let rotation = 0;

const unfinished = (entry) => entry.state === "job" && !(entry.job && FINISHED.has(entry.job.state));
export const followJobs = async () => {
  const open = entries.filter(unfinished);
  if (!open.length) {
    return;
  }
  /* The oldest move first; of the rest a few at a time, so that none is forgotten. */
  const rest = open.slice(POLLED_FIRST);
  rotation = rest.length ? (rotation + POLLED_NEXT) % rest.length : 0;
  const asked = [...open.slice(0, POLLED_FIRST), ...rest.slice(rotation, rotation + POLLED_NEXT)];
  const { jobs } = await request(`/api/v1/jobs?ids=${asked.map((entry) => entry.receipt.job_id).join(",")}`);
  const found = new Set();
  for (const job of jobs) {
    found.add(job.id);
    const entry = byJob.get(job.id);
    entry.job = job;
    shown.draw(entry);
  }
  for (const entry of asked) {
    if (!found.has(entry.receipt.job_id)) {
      entry.state = "received";
      shown.draw(entry);
    }
  }
};
export const followArchives = async () => {
  for (const entry of entries) {
    const isOpen =
      entry.isArchive && entry.state === "job" && entry.job && entry.job.stage !== "stored" && !entry.isComplete;
    if (isOpen && Date.now() - (entry.asked || 0) > CHILDREN_MS) {
      entry.asked = Date.now();
      const wasFinished = isFinished(entry.job);
      await readChildren(entry);
      if (wasFinished && !entry.members) {
        const { events } = await request(`/api/v1/jobs/${entry.receipt.job_id}/log`);
        entry.members = events.filter((event) => event.code === "member_refused").map((event) => event.values);
      }
      entry.isComplete = wasFinished && [...entry.children.values()].every(isFinished);
      shown.draw(entry);
    }
  }
};
/* The jobs of an archive's files that changed since they were read last, and those that run: these move meanwhile. */
const readChildren = async (entry) => {
  entry.children ||= new Map();
  const running = [...entry.children.values()].filter((job) => job.state === "running").slice(0, POLLED_FIRST);
  if (running.length) {
    const { jobs } = await request(`/api/v1/jobs?ids=${running.map((job) => job.id).join(",")}`);
    jobs.forEach((job) => entry.children.set(job.id, job));
  }
  const since = entry.seen || 0;
  const path = `/api/v1/jobs?parent=${entry.receipt.job_id}&changed_since=${since}&limit=${CHILDREN_LIMIT}`;
  for (let before = ""; before !== null; ) {
    const { jobs } = await request(before ? `${path}&before=${before}` : path);
    for (const job of jobs) {
      entry.children.set(job.id, job);
      entry.seen = Math.max(entry.seen || 0, job.change);
    }
    before = jobs.length === CHILDREN_LIMIT ? jobs[jobs.length - 1].id : null;
  }
};
