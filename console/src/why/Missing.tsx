// Why something does not hold: how far each rule comes, which condition fails, and what is near.

import type { Conclusion, messages, ProofTree } from "@stratalog/client";
import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { Fact } from "./Fact.tsx";
import { toFact } from "./links.ts";
import { factText, typesOf } from "./words.ts";

/** So many levels are open at first. */
const LEVELS = 3;

interface MissingProps {
  session: Session;
  tree: ProofTree;
  id: string;
  level: number;
}

export function Missing({ session, tree, id, level }: MissingProps) {
  const node = tree.nodes[id];
  const missing = node?.why_not;
  if (node === undefined || missing === undefined) return null;
  const { clause_text: clause, clause_index: number, blocker, nearest = [], hint } = missing;
  const title =
    clause === undefined ? (
      <>
        <Fact session={session} conclusion={node.conclusion} isPattern /> does not hold
      </>
    ) : (
      <>
        rule {number}: <Clause clause={clause} blocker={blocker} />
      </>
    );
  return (
    <details class="missing" open={level <= LEVELS}>
      <summary>{title}</summary>
      {clause === undefined && <Ways session={session} relation={node.conclusion.pred} />}
      {blocker !== undefined && <Blocked session={session} blocker={blocker} />}
      {nearest.length > 0 && (
        <p>
          near to it: <Facts session={session} facts={nearest} />
        </p>
      )}
      {hint !== undefined && <p class="help">{seen(hint)}</p>}
      {(node.children ?? []).map((child) => (
        <Missing key={child} session={session} tree={tree} id={child} level={level + 1} />
      ))}
    </details>
  );
}

/** Where one can look at a relation, and at what derives it: nothing in a summary can be a link. */
function Ways({ session, relation }: { session: Session; relation: string }) {
  const known = session.catalog.value.relations.get(relation);
  if (known === undefined) return null;
  return (
    <p>
      <a href={to("relations", [relation])}>
        <bdi>{seen(relation)}</bdi>
      </a>
      {known.isDerived && (
        <>
          {" "}
          and <a href={to("rules", [relation])}>its rules</a>
        </>
      )}
    </p>
  );
}

interface ClauseProps {
  clause: string;
  blocker: messages.BlockerProof | undefined;
}

/** A rule in which the condition that fails is marked. */
function Clause({ clause, blocker }: ClauseProps) {
  const condition = blocker !== undefined && "predicate_text" in blocker ? blocker.predicate_text : "";
  const body = clause.indexOf("<-");
  const at = condition === "" || body < 0 ? -1 : clause.indexOf(condition, body);
  if (at < 0) return <Code text={seen(clause)} />;
  return (
    <>
      <Code text={seen(clause.slice(0, at))} />
      <mark>
        <Code text={seen(condition)} />
      </mark>
      <Code text={seen(clause.slice(at + condition.length))} />
    </>
  );
}

function Blocked({ session, blocker }: { session: Session; blocker: messages.BlockerProof }) {
  switch (blocker.type) {
    case "not_stored":
      return <p>it is not stored, and no rule derives it</p>;
    case "head_unification_failed":
      return <p>its head is another: {seen(blocker.reason)}</p>;
    case "body_atom_failed": {
      const tried = blocker.tried.filter((each) => each !== blocker.predicate_text);
      return (
        <>
          <p>
            nothing fulfils <Code text={seen(blocker.predicate_text)} />
          </p>
          {tried.length > 0 && (
            <ul class="tried">
              {tried.map((each) => (
                <li key={each}>
                  tried <Code text={seen(each)} />
                </li>
              ))}
            </ul>
          )}
        </>
      );
    }
    case "negation_succeeded": {
      const { relation, matching_tuple: args = [] } = blocker;
      return (
        <p>
          <Code text={seen(blocker.predicate_text)} /> fails:{" "}
          {relation === undefined ? (
            "what it negates holds"
          ) : (
            <>
              <Facts session={session} facts={[{ pred: relation, args }]} /> holds
            </>
          )}
        </p>
      );
    }
    case "aggregate_differs":
      return blocker.found.length === 0 ? (
        <p>its group is empty</p>
      ) : (
        <p>
          it derives <Facts session={session} facts={blocker.found} />
        </p>
      );
  }
}

/** Facts that hold, each with the way to its proof. */
function Facts({ session, facts }: { session: Session; facts: readonly Conclusion[] }) {
  return (
    <>
      {facts.map((fact, number) => {
        const text = factText(fact, typesOf(session.catalog.value, fact.pred));
        return (
          <span key={text}>
            {number > 0 && ", "}
            <a href={toFact({ program: "" }, text)}>
              <Fact session={session} conclusion={fact} />
            </a>
          </span>
        );
      })}
    </>
  );
}
