/* What one job did, line by line as the server keeps it, with what it took. */
import { request } from "./rows.js";
import { exact, icon, make, size, text } from "../shared/texts.js";

const seconds = (value) => {
  const written = value.toLocaleString(document.documentElement.lang, { maximumFractionDigits: value < 10 ? 2 : 0 });
  return text("job.seconds", { seconds: written });
};
const line = (event) => {
  const stage = text(`job.stage.${event.stage}`);
  const values = { ...event.values, stage };
  for (const name of Object.keys(values)) {
    if (name === "seconds") {
      values[name] = seconds(values[name]);
    }
  }
  if (event.code === "in_part") {
    const [, unit, names] = /^(slides |sheets )?(.*)$/s.exec(event.values.pages);
    const where = names === "*" ? "_somewhere" : unit ? `_${unit.trim()}` : "";
    return text(`job.log.in_part${where}`, { ...values, pages: names });
  }
  return text(`job.log.${event.code}`, values);
};
const facts = (job) => {
  const took = Object.entries(job.stage_seconds || {}).map(([stage, time]) => {
    const count = job.stage_counts?.[stage];
    const words = `${text(`job.stage.${stage}`)} ${seconds(time)}`;
    return count
      ? `${words} (${text(stage === "parsing" || stage === "stored" ? "job.count.bytes" : "job.count.items", {
          count,
          size: size(count),
        })})`
      : words;
  });
  const used = job.resources || {};
  return [
    job.attempts > 1 ? text("job.attempts", { count: job.attempts }) : "",
    job.priority ? text("job.priority", { priority: job.priority }) : "",
    took.join(" · "),
    used.cpu_s ? text("job.cpu", { seconds: seconds(used.cpu_s) }) : "",
    used.peak_bytes ? text("job.peak", { size: size(used.peak_bytes) }) : "",
  ].filter(Boolean);
};
export const drawLog = async (place, job) => {
  let events;
  try {
    events = (await request(`/api/v1/jobs/${encodeURIComponent(job.id)}/log`)).events;
  } catch (error) {
    place.replaceChildren(make("p", "error-line", error.problem?.title || text("job.offline")));
    return;
  }
  const list = make("ol", "job-log-lines");
  for (const event of events) {
    const item = make("li", `job-log-${event.level}`);
    const time = make("time", "", new Date(event.at).toLocaleTimeString(document.documentElement.lang));
    time.dateTime = event.at;
    time.title = exact(new Date(event.at));
    item.append(time);
    if (event.level !== "info") {
      item.append(icon(event.level === "error" ? "x-circle-fill" : "exclamation-triangle-fill"));
    }
    item.append(make("span", "", line(event)));
    list.append(item);
  }
  const known = facts(job);
  place.replaceChildren(...(known.length ? [make("p", "job-facts muted", known.join(" · "))] : []), list);
};
