// What changes would do to everything that rules derive: how many rows would go and come, and the first of
// them.

import { seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { count, counted } from "../parts/text.ts";
import { useTask } from "../parts/useTask.ts";
import { to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { type Change, changesOf, impactOf } from "./supposition.ts";
import { Wide } from "./Wide.tsx";

interface ImpactProps {
  session: Session;
  /** What is supposed. */
  changes: readonly string[];
}

export function Impact({ session, changes }: ImpactProps) {
  const program = impactOf(changes);
  const found = useTask(
    async (signal) => changesOf(await session.looking.execute(program, { reads: true, signal })),
    [session, program],
  );
  return (
    <Shown task={found}>
      {(all) =>
        all.length === 0 ? (
          <p>Nothing that rules derive would change.</p>
        ) : (
          <>
            <p>{counted(all.length, "derived relation")} would have other rows:</p>
            <Wide label="What would change">
              <table class="relation-table">
                <thead>
                  <tr>
                    <th scope="col">Relation</th>
                    <th scope="col" class="right">
                      Rows that go
                    </th>
                    <th scope="col" class="right">
                      Rows that come
                    </th>
                    <th scope="col">The first of them</th>
                  </tr>
                </thead>
                <tbody>
                  {all.map((change) => (
                    <Affected key={change.relation} change={change} />
                  ))}
                </tbody>
              </table>
            </Wide>
          </>
        )
      }
    </Shown>
  );
}

function Affected({ change: { relation, removed, added, firstRemoved, firstAdded } }: { change: Change }) {
  return (
    <tr>
      <th scope="row">
        <a href={to("relations", [relation])}>
          <bdi>{seen(relation)}</bdi>
        </a>
      </th>
      <td class="right">{count(removed)}</td>
      <td class="right">{count(added)}</td>
      <td>
        {/* The sign tells them apart, beside the colour. */}
        <ul class="impact-facts">
          {firstRemoved.slice(0, 3).map((fact) => (
            <li key={`- ${fact}`} class="bad">
              − <bdi class="value">{seen(fact)}</bdi>
            </li>
          ))}
          {firstAdded.slice(0, 3).map((fact) => (
            <li key={`+ ${fact}`} class="good">
              + <bdi class="value">{seen(fact)}</bdi>
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}
