// Why a node of a proof holds, in the words of the terminal, with links to what is named.

import type { ProofNode } from "@stratalog/client";
import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { to } from "../session/address.ts";
import { ToRule } from "./ToRule.tsx";
import { type Telling, typesIn } from "./telling.ts";
import {
  aggregated,
  aggregatesOf,
  factText,
  foundText,
  limitText,
  otherWays,
  patternOf,
  replacedText,
} from "./words.ts";

interface ReasonProps {
  telling: Telling;
  node: ProofNode;
  /** Whether the keyboard comes to the links. */
  tab: number;
}

export function Reason({ telling, node, tab }: ReasonProps) {
  const ways = otherWays(node);
  const { pred } = node.conclusion;
  return (
    <span class="reason">
      <Beginning telling={telling} node={node} tab={tab} />
      {seen(replacedText(node))}
      {ways !== "" && (
        <>
          {" "}
          <a
            href={pred === "?" ? telling.again("all") : telling.ask(factOf(telling, node), "all")}
            tabIndex={tab}
          >
            {ways.trim()}
          </a>
        </>
      )}
    </span>
  );
}

function Beginning({ telling, node, tab }: ReasonProps) {
  const fact = factOf(telling, node);
  switch (node.kind) {
    case "fact":
      return <span class="tag">{node.source === "session" ? "of this session" : "stored"}</span>;
    case "rule":
      return <Rule telling={telling} node={node} tab={tab} />;
    case "aggregate":
      return (
        <>
          <Rule telling={telling} node={node} tab={tab} />
          {aggregatesOf(node).map((proof, number) => (
            <span key={number}>
              {"; "}
              <bdi class="value">{seen(aggregated(proof))}</bdi>
            </span>
          ))}
        </>
      );
    case "vector_search":
      return <bdi>{seen(foundText(node))}</bdi>;
    case "truncated":
      return (
        <>
          <a href={telling.ask(fact)} tabIndex={tab}>
            goes on: <bdi>{seen(`.why ?${fact}`)}</bdi>
          </a>{" "}
          ({limitText(node)})
        </>
      );
    case "negation":
      // Several conditions in parentheses are no fact.
      return patternOf(node).startsWith("(") ? null : (
        <a href={to("why", ["not"], { fact: patternOf(node) })} tabIndex={tab}>
          why not?
        </a>
      );
    case "why_not":
      return null;
  }
}

/** The rule of a node. The query itself is none. */
function Rule({ telling: { session }, node, tab }: ReasonProps) {
  const { pred } = node.conclusion;
  const text = seen(node.rule_id ?? "");
  return (
    <>
      by{" "}
      {pred === "?" ? (
        <Code text={text} />
      ) : (
        <ToRule session={session} relation={pred} tab={tab}>
          <Code text={text} />
        </ToRule>
      )}
    </>
  );
}

function factOf(telling: Telling, { conclusion }: ProofNode): string {
  return factText(conclusion, typesIn(telling, conclusion.pred));
}
