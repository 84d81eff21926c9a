// Whether the rows of a derived relation are kept for the next question, what that costs, and for editors
// whether they are to be.

import { Said } from "../parts/Said.tsx";
import { bytes, count, counted, duration } from "../parts/text.ts";
import { useAction } from "../parts/useAction.ts";
import type { Session } from "../session/session.ts";
import type { KeptView } from "./details.ts";

interface KeptProps {
  session: Session;
  name: string;
  view: KeptView | undefined;
  onDone: () => void;
}

export function Kept({ session, name, view, onDone }: KeptProps) {
  const action = useAction();
  const isAskedFor = view?.isAskedFor ?? false;
  const act = async () => {
    const command = isAskedFor ? `.view drop ${name}` : `.view keep ${name}`;
    if (await action.run(() => session.looking.execute(command))) onDone();
  };
  return (
    <section>
      <h2>Kept rows</h2>
      <p>
        {view === undefined
          ? "No rows are kept: the next question derives them."
          : isAskedFor
            ? "Its rows are kept at hand, and brought to each version in the background."
            : "Its rows are left from a question, and stay as long as there is room."}
      </p>
      {view?.trouble !== undefined && <p class="notice">They are not there: {view.trouble}</p>}
      {view?.rows !== undefined && <Costs view={view} />}
      {session.may("editor") && (
        <p class="buttons">
          <button type="button" disabled={action.isBusy} onClick={() => void act()}>
            {isAskedFor ? "Do not keep them" : "Keep them at hand"}
          </button>
          <span class="quiet">
            {isAskedFor
              ? "They make place for others then, as those of questions do."
              : "They take memory, and time with each commit that changes them. First they are derived."}
          </span>
        </p>
      )}
      <Said action={action} />
    </section>
  );
}

function Costs({
  view: { rows, memoryBytes, behind, deriveMs, stepMs, steps, givenUp },
}: {
  view: KeptView;
}) {
  const facts: [string, string][] = [];
  if (rows !== undefined) facts.push(["Rows", count(rows)]);
  if (memoryBytes !== undefined) facts.push(["Memory", bytes(memoryBytes)]);
  if (deriveMs !== undefined) facts.push(["To derive them anew", duration(deriveMs)]);
  if (stepMs !== undefined) facts.push(["To bring them forward, last", duration(stepMs)]);
  if (steps !== undefined) facts.push(["Brought forward", counted(steps, "time")]);
  if (givenUp !== undefined && givenUp > 0) facts.push(["Not faster, given up", counted(givenUp, "time")]);
  if (behind !== undefined && behind > 0) facts.push(["Behind", counted(behind, "version")]);
  return (
    <dl class="relation-facts">
      {facts.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
