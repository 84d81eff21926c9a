// The indexes of the graph in use, how far they are built, and what is known of one of them.

import { useState } from "preact/hooks";
import { Cell, seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { useTask } from "../parts/useTask.ts";
import { to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { type Index, readIndexes } from "./details.ts";
import { IndexTable } from "./IndexTable.tsx";
import { INDEXES, isIndexName } from "./indexes.ts";
import { useTicks } from "./useTicks.ts";

interface IndexListProps {
  session: Session;
  /** The index of which more is shown. */
  chosen: string | undefined;
}

export function IndexList({ session, chosen }: IndexListProps) {
  const [ticks, setTicks] = useState(0);
  const catalog = session.catalog.value;
  const listed = useTask(() => readIndexes(session.looking), [session, catalog, ticks]);
  const isBuilding = listed.value?.some(({ isCurrent }) => !isCurrent) ?? false;
  useTicks(isBuilding, () => setTicks((now) => now + 1));
  return (
    <>
      <h1 class="unseen">Indexes of {seen(session.graph.value)}</h1>
      <Shown task={listed}>
        {(indexes) =>
          indexes.length === 0 ? (
            <p class="quiet">
              There are no indexes. One is created on the page of a relation whose columns are declared.
            </p>
          ) : (
            <>
              <IndexTable
                session={session}
                indexes={indexes}
                hasRelation={true}
                onDone={() => setTicks((now) => now + 1)}
              />
              {chosen !== undefined && (
                <Chosen key={chosen} session={session} indexes={indexes} name={chosen} ticks={ticks} />
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

interface ChosenProps {
  session: Session;
  indexes: readonly Index[];
  name: string;
  ticks: number;
}

/** How one index is set up, and how far it is built. */
function Chosen({ session, indexes, name, ticks }: ChosenProps) {
  const isKnown = isIndexName(name) && indexes.some((index) => index.name === name);
  const stats = useTask(
    async () => (isKnown ? session.looking.execute(`.index stats ${name}`, { reads: true }) : undefined),
    [session, name, isKnown, ticks],
  );
  if (!isKnown) return <p class="quiet">There is no index {seen(name)}.</p>;
  return (
    <section class="panel index-stats">
      <h2>
        <bdi>{seen(name)}</bdi>
      </h2>
      <Shown task={stats}>
        {(result) => (
          <dl class="relation-facts">
            {result?.columns.map(({ name: what, type }, place) => {
              const value = result.cell(0, place);
              return value === null || what === "name" ? null : (
                <div key={what}>
                  <dt>{what.replaceAll("_", " ")}</dt>
                  <dd>
                    <Cell value={value} type={type} />
                  </dd>
                </div>
              );
            })}
          </dl>
        )}
      </Shown>
      <p>
        <a href={to("relations", [INDEXES])}>Close</a>
      </p>
    </section>
  );
}
