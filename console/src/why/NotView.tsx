// Why a fact does not hold, and with what it would.

import type { ProofTree, Result } from "@stratalog/client";
import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { address, go, to } from "../session/address.ts";
import type { Session, ViewProps } from "../session/session.ts";
import { Asking } from "./Asking.tsx";
import { FactForm } from "./FactForm.tsx";
import { toFact, toIf } from "./links.ts";
import { Missing } from "./Missing.tsx";
import { ProofView } from "./ProofView.tsx";
import { whyNot } from "./suppose.ts";
import { factText, typesOf } from "./words.ts";

export function NotView({ session }: ViewProps) {
  const { values } = address.value;
  const { fact = "" } = values;
  const program = whyNot(fact);
  return (
    <>
      <FactForm
        key={fact}
        session={session}
        fact={fact}
        onAsk={(now) => go(to("why", ["not"], { ...values, fact: now }))}
      />
      {program !== undefined && (
        <Asking key={program} session={session} program={program}>
          {(result) => <Answer session={session} fact={fact} result={result} />}
        </Asking>
      )}
    </>
  );
}

function Answer({ session, fact, result }: { session: Session; fact: string; result: Result }) {
  const [tree] = result.proofTrees;
  const root = tree?.roots[0];
  if (tree === undefined || root === undefined) return null;
  if (tree.nodes[root]?.kind !== "why_not") {
    return (
      <>
        <p>
          <Code text={seen(tree.query)} /> holds:
        </p>
        <ProofView
          telling={{
            session,
            tree,
            columns: [],
            types: [],
            ask: (other, how) => toFact({ program: "" }, other, how),
            again: (how) => toFact({ program: "" }, fact, how),
          }}
        />
      </>
    );
  }
  return (
    <>
      <Supposed session={session} tree={tree} fact={fact} />
      <section class="panel" aria-label="Explanation">
        <Missing session={session} tree={tree} id={root} level={1} />
        {notesOf(result, tree).map((note) => (
          <p key={note} class="quiet">
            {seen(note)}
          </p>
        ))}
      </section>
    </>
  );
}

/**
 * What the explanation says beside the tree: lines that are not set in, but for the first, and that of the
 * facts to suppose.
 */
function notesOf(result: Result, tree: ProofTree): string[] {
  const lines = result.rows().map(([line]) => String(line));
  const notes = lines.filter((line, number) => number > 0 && !line.startsWith(" "));
  return (tree.would_hold_with ?? []).length > 0 ? notes.slice(1) : notes;
}

function Supposed({ session, tree, fact }: { session: Session; tree: ProofTree; fact: string }) {
  const facts = (tree.would_hold_with ?? []).map((each) => {
    return `+${factText(each, typesOf(session.catalog.value, each.pred))}`;
  });
  if (facts.length === 0) return null;
  return (
    <section class="panel supposed" aria-label="What is missing">
      <p>It would hold with</p>
      <ul>
        {facts.map((each) => (
          <li key={each}>
            <Code text={seen(each)} />
          </li>
        ))}
      </ul>
      <p class="buttons">
        <a class="button" href={toIf(facts.join("\n"), `?${fact.replace(/^\?/, "")}`)}>
          Suppose {facts.length === 1 ? "this" : "these"}
        </a>
      </p>
    </section>
  );
}
