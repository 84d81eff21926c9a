// What else there is to know of a node of a proof: the values of its variables, what it aggregates, how it
// was searched for.

import type { messages, ProofNode, Cell as Wire } from "@stratalog/client";
import { useState } from "preact/hooks";
import { Cell, seen } from "../parts/Cell.tsx";
import { count } from "../parts/text.ts";
import type { How } from "./question.ts";
import { aggregatesOf, argument, fromWire } from "./words.ts";

/** So many inputs are shown at a time. */
const ROWS = 100;

/** What the button is called that shows them; undefined if there is nothing to show. */
export function detailsOf(node: ProofNode): string | undefined {
  if (node.kind === "aggregate") return "inputs";
  if (node.kind === "vector_search") return "search";
  return Object.keys(node.bindings ?? {}).length > 0 ? "bindings" : undefined;
}

interface DetailsProps {
  node: ProofNode;
  /** The address of the same with all inputs. */
  all: (how: How) => string;
}

export function Details({ node, all }: DetailsProps) {
  return (
    <div class="proof-details">
      <Named values={Object.entries(node.bindings ?? {})} />
      {aggregatesOf(node).map((proof, number) => (
        <Inputs key={number} proof={proof} all={all("full")} />
      ))}
      {node.vector_search !== undefined && <Search node={node} search={node.vector_search} />}
    </div>
  );
}

function Named({ values }: { values: readonly [string, Wire][] }) {
  if (values.length === 0) return null;
  return (
    <dl class="proof-values">
      {values.map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{seen(name)}</bdi>
          </dt>
          <dd>
            <bdi class="value">{seen(argument(value))}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Inputs({ proof, all }: { proof: messages.AggregateProof; all: string }) {
  const [shown, setShown] = useState(ROWS);
  const { input_columns: columns, contributing_count: whole } = proof;
  const inputs = proof.full_inputs ?? proof.sample_inputs;
  const rows = inputs.slice(0, shown);
  const title = `${proof.fn}<${proof.value_var}>`;
  return (
    <div class="proof-inputs">
      <table>
        <caption>
          Inputs of <bdi>{seen(title)}</bdi>: {count(rows.length)} of {count(whole)}
        </caption>
        <thead>
          <tr>
            {columns.map((column, place) => (
              <th key={place} scope="col">
                <bdi>{seen(column)}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            <tr key={number}>
              {row.map((cell, place) => (
                <td key={place}>
                  <Cell value={fromWire(cell)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="buttons">
        {rows.length < inputs.length && (
          <button type="button" onClick={() => setShown(shown + ROWS)}>
            Show more
          </button>
        )}
        {inputs.length < whole && <a href={all}>All inputs</a>}
      </p>
    </div>
  );
}

function Search({ node, search }: { node: ProofNode; search: messages.SearchProof }) {
  const { index_name: index, metric, distance, k } = search;
  // Of texts it is how well they fit.
  const near = metric === undefined ? "score" : "distance";
  const values: [string, Wire][] = [
    ["index", index],
    ...(metric === undefined ? [] : [["metric", metric] as [string, Wire]]),
    [near, distance],
    ...(k === undefined ? [] : [["rows searched for", k] as [string, Wire]]),
    ...(node.rule_id === undefined ? [] : [["rule", node.rule_id] as [string, Wire]]),
  ];
  return (
    <dl class="proof-values">
      {values.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Cell value={fromWire(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
