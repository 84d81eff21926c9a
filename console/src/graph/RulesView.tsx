// The rules of the graph in use: how relations follow from each other, and the clauses of one of them.

import { seen } from "../parts/Cell.tsx";
import { Example } from "../parts/Example.tsx";
import { Shown } from "../parts/Shown.tsx";
import { address } from "../session/address.ts";
import type { Session, ViewProps } from "../session/session.ts";
import { AddClause } from "./AddClause.tsx";
import { AllRules } from "./AllRules.tsx";
import { ClausesPage } from "./ClausesPage.tsx";
import "./graph.css";
import { OnDemand } from "./OnDemand.tsx";
import { useDetails } from "./useDetails.ts";

/** With which somebody can begin. */
const EXAMPLE = `+parent[("ada", "bob"), ("bob", "cleo")]
+grandparent(X, Z) <- parent(X, Y), parent(Y, Z)
?grandparent(X, Z)`;

export function RulesView({ session }: ViewProps) {
  const [name] = address.value.parts;
  return name === undefined ? (
    <Rules session={session} />
  ) : (
    <ClausesPage key={name} session={session} name={name} />
  );
}

function Rules({ session }: { session: Session }) {
  const catalog = session.catalog.value;
  const details = useDetails(session);
  if (!catalog.isKnown) return <p class="waiting quiet">…</p>;
  const hasRules = [...catalog.relations.values()].some(({ isDerived }) => isDerived);
  if (!hasRules) return <Beginning session={session} />;
  return (
    <>
      <h1 class="unseen">Rules of {seen(session.graph.value)}</h1>
      <Shown task={details}>{(known) => <AllRules catalog={catalog} details={known} />}</Shown>
      {session.may("editor") && (
        <OnDemand label="New rule…">{(close) => <AddClause session={session} onDone={close} />}</OnDemand>
      )}
    </>
  );
}

function Beginning({ session }: { session: Session }) {
  return (
    <section class="relation-beginning">
      <h1>
        No rules are in <bdi>{seen(session.graph.value)}</bdi> yet
      </h1>
      {session.may("editor") ? (
        <Example program={EXAMPLE}>
          A rule says what follows from what: its head, an arrow, and the conditions that have to hold.
        </Example>
      ) : (
        <p>Whoever may change this graph can store rules in it.</p>
      )}
    </section>
  );
}
