// The clauses of one derived relation.

import { useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Shown } from "../parts/Shown.tsx";
import { Sure } from "../parts/Sure.tsx";
import { counted } from "../parts/text.ts";
import { useTask } from "../parts/useTask.ts";
import { go, to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { AddClause } from "./AddClause.tsx";
import { Clause } from "./Clause.tsx";
import { isName } from "./clauses.ts";
import { readClauses } from "./details.ts";
import { Impact } from "./Impact.tsx";
import { Neighbours } from "./Neighbours.tsx";
import { OnDemand } from "./OnDemand.tsx";
import { useDetails } from "./useDetails.ts";

export function ClausesPage({ session, name }: { session: Session; name: string }) {
  const catalog = session.catalog.value;
  const relation = catalog.relations.get(name);
  const isDerived = relation?.isDerived ?? false;
  const [said, setSaid] = useState<readonly string[]>([]);
  const [ticks, setTicks] = useState(0);
  /** For each place that is edited, all clauses as they were when that began. */
  const [edited, setEdited] = useState<ReadonlyMap<number, readonly string[]>>(new Map());
  const details = useDetails(session);
  const clauses = useTask(
    async () => (isDerived ? readClauses(session.looking, name) : []),
    [session, name, isDerived, catalog, ticks],
  );
  const done = (what: readonly string[]) => {
    setSaid(what);
    setTicks((now) => now + 1);
    void session.refresh();
  };
  if (!catalog.isKnown) return <p class="waiting quiet">…</p>;
  const edit = (place: number, all: readonly string[] | undefined) =>
    setEdited((before) => {
      const after = new Map(before);
      if (all === undefined) after.delete(place);
      else after.set(place, all);
      return after;
    });
  const isEditor = session.may("editor");
  return (
    <article class="relation-page">
      <header class="relation-head">
        <h1>
          Rules of <bdi>{seen(name)}</bdi>
        </h1>
        <p class="buttons">
          <a class="button" href={to("rules", [], { of: name })}>
            In the picture
          </a>
          {relation !== undefined && (
            <a class="button" href={to("relations", [name])}>
              The relation
            </a>
          )}
          <a class="button" href={to("rules")}>
            All rules
          </a>
        </p>
      </header>
      {!isDerived && <p>No rules derive it{relation === undefined && ", and it is not there"}.</p>}
      <Shown task={clauses}>
        {(all) => (
          <>
            {all.length > 0 && <h2>{counted(all.length, "clause")}</h2>}
            <ol class="clause-list">
              {placesOf(all, edited).map((place) => (
                <Clause
                  key={place}
                  session={session}
                  name={name}
                  clauses={all}
                  place={place}
                  edited={edited.get(place)}
                  onEdit={(clauses) => edit(place, clauses)}
                  onDone={done}
                />
              ))}
            </ol>
            {isDerived && all.length === 0 && <p>It has no clause, and no row.</p>}
          </>
        )}
      </Shown>
      <div class="said" role="status">
        {said.map((text, number) => (
          <p key={number}>{text}</p>
        ))}
      </div>
      {isEditor && isName(name) && (
        <OnDemand label="New clause…">
          {(close) => (
            <AddClause
              session={session}
              name={name}
              onDone={() => {
                close();
                done([]);
              }}
            />
          )}
        </OnDemand>
      )}
      {details.value !== undefined && <Neighbours name={name} dependencies={details.value.dependencies} />}
      {isEditor && isDerived && <DropRules session={session} name={name} clauses={relation?.clauses ?? 0} />}
    </article>
  );
}

/** The places of clauses, and those of clauses that somebody edits and another has taken away. */
function placesOf(all: readonly string[], edited: ReadonlyMap<number, unknown>): number[] {
  return [...all.keys(), ...[...edited.keys()].filter((place) => place >= all.length).sort((a, b) => a - b)];
}

/** Drops all clauses, after it was shown what that would do. Stored rows stay. */
function DropRules({ session, name, clauses }: { session: Session; name: string; clauses: number }) {
  const drop = async () => {
    await session.looking.execute(`-${name}`);
    go(to("rules"));
    await session.refresh();
  };
  return (
    <section>
      <h2>Drop all of them</h2>
      <OnDemand label="What would break without them?">
        {() => (
          <>
            {/* Above what comes later: it stays where it is. */}
            <p class="buttons">
              <Sure
                label={`Drop the rules of ${seen(name)}`}
                class="danger"
                what={
                  <>
                    All rules of <bdi>{seen(name)}</bdi> are dropped, {counted(clauses, "clause")}. Facts of
                    the same name stay.
                  </>
                }
                act={drop}
              />
            </p>
            <Impact session={session} changes={[`-${name}`]} />
          </>
        )}
      </OnDemand>
    </section>
  );
}
