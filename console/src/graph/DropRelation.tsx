// Drops a relation, after it was shown what that would do to what rules derive.

import { seen } from "../parts/Cell.tsx";
import { Sure } from "../parts/Sure.tsx";
import { counted } from "../parts/text.ts";
import { go, to } from "../session/address.ts";
import type { Relation } from "../session/catalog.ts";
import type { Session } from "../session/session.ts";
import type { Details } from "./details.ts";
import { Impact } from "./Impact.tsx";
import { OnDemand } from "./OnDemand.tsx";
import { withoutRelation } from "./supposition.ts";

interface DropRelationProps {
  session: Session;
  relation: Relation;
  arity: number;
  details: Details;
}

export function DropRelation({ session, relation, arity, details }: DropRelationProps) {
  const { name, rows, isAttached, isDerived, clauses } = relation;
  const indexes = details.indexes.filter(({ relation: over }) => over === name).length;
  const readers = details.dependencies.readings.filter(
    ({ relation: other, reads }) => reads === name && other !== name,
  );
  const changes = isAttached ? [] : withoutRelation(name, arity, (rows ?? 0) > 0, isDerived);
  const drop = async () => {
    await session.looking.execute(`.rel drop ${name}`);
    go(to("relations"));
    await session.refresh();
  };
  const gone = [
    ...(rows === undefined || isAttached ? [] : [counted(rows, "stored row")]),
    ...(isDerived ? [counted(clauses, "clause")] : []),
    ...(indexes === 0 ? [] : [counted(indexes, "index", "indexes")]),
  ];
  return (
    <section>
      <h2>Drop it</h2>
      <OnDemand label="What would break without it?">
        {() => (
          <>
            {/* Above what comes later: it stays where it is. */}
            <p class="buttons">
              <Sure
                label={`Drop ${seen(name)}`}
                class="danger"
                what={
                  <>
                    <bdi>{seen(name)}</bdi> is dropped
                    {gone.length > 0 && `, with ${gone.join(" and ")}`}. This cannot be undone.
                  </>
                }
                act={drop}
              />
            </p>
            {readers.length > 0 && (
              <p>Rules of {counted(readers.length, "other relation")} read it; to them it would be empty.</p>
            )}
            {changes.length === 0 ? (
              <p>{isAttached ? "Its files stay as they are." : "It is empty, so no rows would go."}</p>
            ) : (
              <Impact session={session} changes={changes} />
            )}
          </>
        )}
      </OnDemand>
    </section>
  );
}
