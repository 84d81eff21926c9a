// What the server is, and what is stored that the user may see.

import type { Value } from "@stratalog/client";
import { Cell } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { bytes, count, duration } from "../parts/text.ts";
import type { ViewProps } from "../session/session.ts";
import { usePolled } from "./usePolled.ts";

const EVERY_MILLISECONDS = 5_000;

export function StatusPart({ session }: ViewProps) {
  const { looking } = session;
  const work = async (signal: AbortSignal) => {
    const result = await looking.execute(".status", { reads: true, signal });
    return result.objects()[0] ?? {};
  };
  const { task } = usePolled(work, EVERY_MILLISECONDS, [session]);
  return (
    <section class="part">
      <h2>This server</h2>
      <dl class="status-list">
        <Fact term="Address" value={looking.url} />
        <Fact term="Version" value={looking.session.version} />
        <Fact term="You" value={`${session.user ?? "somebody with an API key"}, ${session.role}`} />
        <Fact term="Your level here" value={session.level.value ?? "…"} />
      </dl>
      <h2>What is stored in graphs that you may see</h2>
      <Shown task={task}>
        {(status) => (
          <dl class="status-list">
            {FACTS.map(({ name, term, text }) => (
              <Fact key={name} term={term} value={status[name] ?? null} text={text} />
            ))}
            {Object.entries(status)
              .filter(([name]) => !KNOWN.has(name))
              .map(([name, value]) => (
                <Fact key={name} term={name} value={value} />
              ))}
          </dl>
        )}
      </Shown>
    </section>
  );
}

interface Known {
  readonly name: string;
  readonly term: string;
  readonly text?: (value: number) => string;
}

/** What `.status` tells, as people call it; what it tells beside that stands under its own name. */
const FACTS: readonly Known[] = [
  { name: "knowledge_graph", term: "Graph in use" },
  { name: "knowledge_graphs", term: "Knowledge graphs", text: count },
  { name: "relations", term: "Stored relations", text: count },
  { name: "views", term: "Derived relations", text: count },
  { name: "tuples", term: "Stored facts", text: count },
  { name: "memory_bytes", term: "Their memory", text: bytes },
  { name: "stored_bytes", term: "Facts of all graphs", text: bytes },
  { name: "stored_limit_bytes", term: "What these may take", text: bytes },
  {
    name: "archive_age_seconds",
    term: "All was archived before",
    text: (seconds) => duration(seconds * 1000),
  },
  { name: "kept_views", term: "Derived relations that are kept", text: count },
  { name: "kept_view_bytes", term: "Memory of kept rows", text: bytes },
];

const KNOWN: ReadonlySet<string> = new Set(["version", ...FACTS.map(({ name }) => name)]);

interface FactProps {
  term: string;
  value: Value;
  text?: ((value: number) => string) | undefined;
}

function Fact({ term, value, text }: FactProps) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        {typeof value === "number" && text !== undefined ? (
          text(value)
        ) : value === null ? (
          "–"
        ) : (
          <Cell value={value} />
        )}
      </dd>
    </div>
  );
}
