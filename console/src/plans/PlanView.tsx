// How a query would be answered, or was. The query and whether it is measured stand in the address.

import { useEffect, useRef, useState } from "preact/hooks";
import { Editor } from "../editor/Editor.tsx";
import { Shown } from "../parts/Shown.tsx";
import { counted } from "../parts/text.ts";
import { useTask } from "../parts/useTask.ts";
import { address, go, to } from "../session/address.ts";
import type { Session, ViewProps } from "../session/session.ts";
import { PlanTree } from "./PlanTree.tsx";
import type { Plan } from "./plan.ts";
import "../graph/graph.css";
import "./plans.css";
import { planned } from "./planned.ts";

export function PlanView({ session }: ViewProps) {
  const { q = "", measured } = address.value.values;
  const [draft, setDraft] = useState(q);
  const [number, setNumber] = useState(0);
  useEffect(() => setDraft(q), [q]);
  const ask = (isMeasured: boolean) => {
    const next = to("plan", [], isMeasured ? { q: draft, measured: "1" } : { q: draft });
    // The same once more is not another address.
    if (location.hash === next) setNumber((now) => now + 1);
    else go(next);
  };
  return (
    <>
      <h1 class="unseen">Plan</h1>
      <Editor
        session={session}
        value={draft}
        onChange={setDraft}
        onRun={() => ask(false)}
        label="Query whose plan is shown"
        compact
      />
      <p class="buttons plan-buttons">
        <button type="button" class="main" disabled={draft.trim() === ""} onClick={() => ask(false)}>
          Explain
        </button>
        <button type="button" disabled={draft.trim() === ""} onClick={() => ask(true)}>
          Profile
        </button>
        <span class="quiet">Explain runs nothing. Profile runs the query, and measures each step.</span>
      </p>
      {q.trim() !== "" && (
        <Asked key={`${measured} ${number} ${q}`} session={session} query={q} isMeasured={measured === "1"} />
      )}
    </>
  );
}

interface AskedProps {
  session: Session;
  query: string;
  isMeasured: boolean;
}

function Asked({ session, query, isMeasured }: AskedProps) {
  const { program, leftOut } = planned(query, isMeasured ? "profile" : "explain");
  const stop = useRef(new AbortController());
  const found = useTask(
    async (gone) => {
      if (program === undefined) return undefined;
      const signal = AbortSignal.any([gone, stop.current.signal]);
      // It sees what the query sees: the facts and rules of the session, too.
      const result = await session.asking.execute(program, { reads: true, signal });
      return JSON.parse(String(result.column("plan").get(0))) as Plan;
    },
    [session, program],
  );
  if (program === undefined) return <p>There is no query here: a query begins with a question mark.</p>;
  return (
    <>
      {leftOut > 0 && (
        <p class="notice">
          {counted(leftOut, "statement")} of this program {leftOut === 1 ? "is" : "are"} left out: a plan is
          that of the last query, and nothing is written for it.
        </p>
      )}
      {found.state === "running" && (
        <p class="buttons" role="status">
          <span>{isMeasured ? "The query runs…" : "Planning…"}</span>
          <button type="button" onClick={() => stop.current.abort("stopped")}>
            Stop
          </button>
        </p>
      )}
      {found.state !== "running" && <Shown task={found}>{(plan) => plan && <PlanTree plan={plan} />}</Shown>}
    </>
  );
}
