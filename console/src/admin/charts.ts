// The charts of metrics, in the order in which they are shown.

import type { Series } from "../live/Lines.tsx";
import { bytes, count, duration } from "../parts/text.ts";
import { gauge, quantiles, type Reading, rate } from "./metrics.ts";

/** What a chart shows. A metric that the server does not have is left out. */
export interface Chart {
  readonly title: string;
  /** At most two lines. */
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
}

interface Line {
  readonly name: string;
  readonly metric: string;
  /** A value; counts a second; or a part of all times, by the buckets of a histogram. */
  readonly of: "gauge" | "rate" | number;
}

const times = (metric: string): readonly Line[] => [
  { name: "p50", metric, of: 0.5 },
  { name: "p95", metric, of: 0.95 },
];

export const CHARTS: readonly Chart[] = [
  {
    title: "Programs a second",
    lines: [{ name: "programs", metric: "service_queries_total", of: "rate" }],
    text: tenths,
  },
  { title: "Time to the answer", lines: times("service_query_seconds"), text: seconds },
  { title: "Waiting for a place", lines: times("service_query_wait_seconds"), text: seconds },
  {
    title: "Memory",
    lines: [
      { name: "in use", metric: "service_memory_usage_bytes", of: "gauge" },
      { name: "stored facts", metric: "service_stored_memory_bytes", of: "gauge" },
    ],
    text: bytes,
  },
  {
    title: "Sessions",
    lines: [
      { name: "sessions", metric: "service_sessions_total", of: "gauge" },
      { name: "with facts or rules of their own", metric: "service_sessions_dirty", of: "gauge" },
    ],
    text: count,
  },
  {
    title: "Connections",
    lines: [
      { name: "open", metric: "service_connections", of: "gauge" },
      { name: "WebSockets", metric: "service_websockets", of: "gauge" },
    ],
    text: count,
  },
  {
    title: "Stored facts",
    lines: [{ name: "facts", metric: "service_tuples_total", of: "gauge" }],
    text: count,
  },
  {
    title: "Live queries",
    lines: [
      { name: "queries", metric: "service_live_queries", of: "gauge" },
      { name: "subscriptions", metric: "service_live_subscriptions", of: "gauge" },
    ],
    text: count,
  },
  {
    title: "Changes of live answers a second",
    lines: [
      { name: "changes", metric: "service_live_deltas_total", of: "rate" },
      { name: "all rows anew", metric: "service_live_resets_total", of: "rate" },
    ],
    text: tenths,
  },
  {
    title: "Versions that live queries are behind",
    lines: [{ name: "versions", metric: "service_live_behind_versions", of: "gauge" }],
    text: count,
  },
  {
    title: "Kept derived relations brought forward a second",
    lines: [
      { name: "steps", metric: "service_kept_view_steps_total", of: "rate" },
      { name: "given up", metric: "service_kept_view_steps_given_up_total", of: "rate" },
    ],
    text: tenths,
  },
  {
    title: "Connections refused a second",
    lines: [{ name: "refused", metric: "service_connections_refused_total", of: "rate" }],
    text: tenths,
  },
];

/** The lines of a chart. */
export function seriesOf({ lines }: Chart, readings: readonly Reading[]): readonly Series[] {
  const last = readings.at(-1);
  const isThere = ({ metric, of }: Line) =>
    last?.values.has(typeof of === "number" ? `${metric}_count` : metric);
  return lines
    .filter(isThere)
    .map(({ name, metric, of }) => ({ name, points: pointsOf(readings, metric, of) }));
}

function pointsOf(readings: readonly Reading[], metric: string, of: Line["of"]) {
  if (typeof of === "number") return quantiles(readings, metric, of);
  return of === "rate" ? rate(readings, metric) : gauge(readings, metric);
}

function tenths(value: number): string {
  return value < 100 ? String(Math.round(value * 10) / 10) : count(Math.round(value));
}

/** The server counts no further than 5 s. */
function seconds(value: number): string {
  return value >= 5 ? "5 s or more" : duration(value * 1000);
}
