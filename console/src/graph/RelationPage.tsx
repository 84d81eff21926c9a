// One relation: what is in it, what it follows from and what follows from it, and what can be done with it.

import { useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Failure } from "../parts/Failure.tsx";
import { counted } from "../parts/text.ts";
import { useTask } from "../parts/useTask.ts";
import { to } from "../session/address.ts";
import type { Relation, RelationColumn } from "../session/catalog.ts";
import type { Session } from "../session/session.ts";
import { Columns } from "./Columns.tsx";
import { variablesOf } from "./clauses.ts";
import { DropRelation } from "./DropRelation.tsx";
import { type Details, readClauses } from "./details.ts";
import { Kept } from "./Kept.tsx";
import { Neighbours } from "./Neighbours.tsx";
import { RelationIndexes } from "./RelationIndexes.tsx";
import { Sample } from "./Sample.tsx";
import { useDetails } from "./useDetails.ts";

/** Of more rows than these, the query that is offered has a limit. */
const MANY = 1000;

export function RelationPage({ session, name }: { session: Session; name: string }) {
  const catalog = session.catalog.value;
  const [ticks, setTicks] = useState(0);
  const relation = catalog.relations.get(name);
  const details = useDetails(session, ticks);
  const isDerived = relation?.isDerived ?? false;
  const clauses = useTask(
    async () => (isDerived ? readClauses(session.looking, name) : []),
    [session, name, isDerived, catalog],
  );
  if (relation === undefined) {
    return catalog.isKnown ? <Unknown name={name} details={details.value} /> : <p class="waiting quiet">…</p>;
  }
  const problem =
    details.state === "failed" ? details.problem : clauses.state === "failed" ? clauses.problem : undefined;
  const { columns } = relation;
  const isKept = (details.value?.views.get(name)?.rows ?? undefined) !== undefined;
  const done = () => setTicks((now) => now + 1);
  return (
    <article class="relation-page">
      <Heading relation={relation} columns={columns} details={details.value} />
      {problem !== undefined && <Failure problem={problem} />}
      {details.value === undefined ? (
        problem === undefined && <p class="waiting quiet">…</p>
      ) : (
        <>
          <Columns session={session} relation={relation} columns={columns} isKept={isKept} />
          <Neighbours name={name} dependencies={details.value.dependencies} />
          {(!isDerived || relation.rows !== undefined) && !relation.isAttached && (
            <RelationIndexes session={session} relation={relation} details={details.value} onDone={done} />
          )}
          {isDerived && (
            <Kept session={session} name={name} view={details.value.views.get(name)} onDone={done} />
          )}
          <Sample session={session} name={name} columns={columns} />
          {session.may("editor") && (
            <DropRelation
              session={session}
              relation={relation}
              arity={columns.length}
              details={details.value}
            />
          )}
        </>
      )}
    </article>
  );
}

interface HeadingProps {
  relation: Relation;
  columns: readonly RelationColumn[];
  details: Details | undefined;
}

function Heading({ relation, columns, details }: HeadingProps) {
  const { name, rows, isAttached, isDerived, clauses } = relation;
  const variables = variablesOf(columns.map((column) => column.name));
  const goal = `${name}(${variables.join(", ")})`;
  // Whoever looks into a large relation does not want all of it at once.
  const query = rows === undefined || rows > MANY ? `?${goal}, limit(${MANY})` : `?${goal}`;
  const isRead = details?.dependencies.readings.some(({ relation: reader, reads }) =>
    [reader, reads].includes(name),
  );
  return (
    <header class="relation-head">
      <h1>
        <bdi>{seen(name)}</bdi>
      </h1>
      <p class="quiet">
        {rows !== undefined && counted(rows, isAttached ? "row" : "stored row")}
        {isAttached && " in files"}
        {rows !== undefined && isDerived && ", and "}
        {isDerived && `derived by ${counted(clauses, "clause")}`}
        {rows === undefined && !isDerived && "declared, without rows"}
      </p>
      <p class="buttons">
        {columns !== undefined && (
          <>
            <a class="button" href={to("ask", ["table"], { q: query })}>
              Ask for its rows
            </a>
            {columns.length > 0 && (
              <a class="button" href={to("ask", ["table"], { q: `?count<${variables[0]}> <- ${goal}` })}>
                Count them
              </a>
            )}
            <a class="button" href={to("plan", [], { q: `?${goal}` })}>
              Plan
            </a>
          </>
        )}
        {isDerived && (
          <a class="button" href={to("rules", [name])}>
            Its rules
          </a>
        )}
        {isRead && (
          <a class="button" href={to("rules", [], { of: name })}>
            In the picture
          </a>
        )}
      </p>
    </header>
  );
}

/** Rules may read what is not there. */
function Unknown({ name, details }: { name: string; details: Details | undefined }) {
  return (
    <article class="relation-page">
      <h1>
        <bdi>{seen(name)}</bdi>
      </h1>
      <p>There is no relation of this name in this graph.</p>
      {details !== undefined && <Neighbours name={name} dependencies={details.dependencies} />}
      <p>
        <a href={to("relations")}>All relations</a>
      </p>
    </article>
  );
}
