// A fact: its relation, which leads to that, and its values as a program would write them.

import type { Conclusion } from "@stratalog/client";
import { kindOf, seen } from "../parts/Cell.tsx";
import { to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { argument, fromWire, typesOf } from "./words.ts";

interface FactProps {
  session: Session;
  conclusion: Conclusion;
  /** The names of the columns of the query, whose rows have no relation. */
  columns?: readonly string[];
  /** The types of the values; those of the relation if they are not said. */
  types?: readonly string[];
  /** Whether null stands for any value. */
  isPattern?: boolean;
  /** Whether the keyboard comes to the link; without it there is none. */
  tab?: number | undefined;
}

export function Fact(props: FactProps) {
  const { session, conclusion, columns = [], isPattern = false, tab } = props;
  const { pred, args } = conclusion;
  const catalog = session.catalog.value;
  const { types = typesOf(catalog, pred) } = props;
  const isOfQuery = pred === "?";
  return (
    <span class="fact">
      {!isOfQuery && (
        <>
          {tab !== undefined && catalog.relations.has(pred) ? (
            <a class="tok-relation" href={to("relations", [pred])} tabIndex={tab}>
              <bdi>{seen(pred)}</bdi>
            </a>
          ) : (
            <bdi class="tok-relation">{seen(pred)}</bdi>
          )}
          (
        </>
      )}
      {args.map((cell, column) => (
        <span key={column}>
          {column > 0 && ", "}
          {isOfQuery && (
            <>
              <bdi>{seen(columns[column] ?? `column ${column + 1}`)}</bdi>
              {" = "}
            </>
          )}
          <bdi class={`value ${kindOf(fromWire(cell, types[column]))}`}>
            {cell === null && isPattern ? "_" : seen(argument(cell, types[column]))}
          </bdi>
        </span>
      ))}
      {!isOfQuery && ")"}
    </span>
  );
}
