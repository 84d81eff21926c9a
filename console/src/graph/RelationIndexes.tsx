// The indexes over a relation, and for editors a way to create one.

import { counted } from "../parts/text.ts";
import type { Relation } from "../session/catalog.ts";
import type { Session } from "../session/session.ts";
import { CreateIndex } from "./CreateIndex.tsx";
import { isName } from "./clauses.ts";
import type { Details } from "./details.ts";
import { IndexTable } from "./IndexTable.tsx";
import { OnDemand } from "./OnDemand.tsx";
import { useTicks } from "./useTicks.ts";

interface RelationIndexesProps {
  session: Session;
  relation: Relation;
  details: Details;
  onDone: () => void;
}

export function RelationIndexes({
  session,
  relation: { name, columns },
  details,
  onDone,
}: RelationIndexesProps) {
  const indexes = details.indexes.filter(({ relation }) => relation === name);
  const isEditor = session.may("editor");
  useTicks(
    indexes.some(({ isCurrent }) => !isCurrent),
    onDone,
  );
  // What cannot be named in a command cannot be indexed.
  const possible = columns.filter((column) => isName(column.name));
  if (indexes.length === 0 && !isEditor) return null;
  return (
    <section>
      <h2>Indexes</h2>
      {indexes.length === 0 ? (
        <p class="quiet">
          None. What a query looks up is indexed by itself; a search for vectors or words needs one.
        </p>
      ) : (
        <>
          <p class="unseen">{counted(indexes.length, "index", "indexes")}</p>
          <IndexTable session={session} indexes={indexes} hasRelation={false} onDone={onDone} />
        </>
      )}
      {isEditor && possible.length > 0 && (
        <OnDemand label="New index…">
          {() => <CreateIndex session={session} relation={name} columns={possible} onDone={onDone} />}
        </OnDemand>
      )}
    </section>
  );
}
