// All relations of the graph in use, to be filtered and sorted. How that is done stands in the address.

import { seen } from "../parts/Cell.tsx";
import { Example } from "../parts/Example.tsx";
import { Failure } from "../parts/Failure.tsx";
import { count, counted } from "../parts/text.ts";
import { address, rename, to, writeAddress } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { filtered, kindText, ORDERS, type Order, orderOf, type RelationRow, sorted } from "./relationRows.ts";
import { useDetails } from "./useDetails.ts";
import { Wide } from "./Wide.tsx";

/** No more are shown at once. */
const MOST = 500;

const TITLES: Record<Order, string> = { name: "Relation", columns: "Columns", rows: "Rows", kind: "Kind" };

/** With which somebody can begin. */
const EXAMPLE = `+parent[("ada", "bob"), ("bob", "cleo"), ("cleo", "dora")]
+ancestor(X, Y) <- parent(X, Y)
+ancestor(X, Z) <- ancestor(X, Y), parent(Y, Z)
?ancestor("ada", Y)`;

export function RelationList({ session }: { session: Session }) {
  const catalog = session.catalog.value;
  const details = useDetails(session);
  const { filter = "", sort, down } = address.value.values;
  if (!catalog.isKnown) return <p class="waiting quiet">…</p>;
  if (catalog.relations.size === 0) return <Beginning session={session} />;
  const all: RelationRow[] = [...catalog.relations.values()].map((relation) => ({
    relation,
    view: details.value?.views.get(relation.name),
  }));
  const order = orderOf(sort);
  const matching = sorted(filtered(all, filter), order, down === "1");
  const shown = matching.slice(0, MOST);
  return (
    <>
      <h1 class="unseen">Relations of {seen(session.graph.value)}</h1>
      <div class="relation-filter">
        <label for="relation-filter">Filter</label>
        <input
          id="relation-filter"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="names and columns"
          value={filter}
          onInput={(event) => setValues({ filter: event.currentTarget.value })}
        />
        <span class="quiet" role="status">
          {shown.length < all.length
            ? `${count(shown.length)} of ${counted(all.length, "relation")}`
            : counted(all.length, "relation")}
        </span>
      </div>
      {details.state === "failed" && <Failure problem={details.problem} />}
      <Wide label="Relations">
        <table class="relation-table">
          <thead>
            <tr>
              {ORDERS.map((each) => (
                <Title key={each} each={each} order={order} descends={down === "1"} />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Line key={row.relation.name} row={row} />
            ))}
          </tbody>
        </table>
      </Wide>
      {shown.length === 0 && <p class="quiet">No relation is called so, and none has such a column.</p>}
      {shown.length < matching.length && (
        <p class="quiet">
          {count(shown.length)} of {count(matching.length)} are shown: say more in the filter.
        </p>
      )}
    </>
  );
}

function Title({ each, order, descends }: { each: Order; order: Order; descends: boolean }) {
  const isSorted = each === order;
  const turned = isSorted ? !descends : each === "rows";
  return (
    <th scope="col" class={each === "rows" ? "right" : ""} aria-sort={ariaSort(isSorted, descends)}>
      <button type="button" class="plain" onClick={() => setValues({ sort: each, down: turned ? "1" : "" })}>
        {TITLES[each]}
        {isSorted && <span aria-hidden="true">{descends ? " ↓" : " ↑"}</span>}
      </button>
    </th>
  );
}

function ariaSort(isSorted: boolean, descends: boolean): "none" | "ascending" | "descending" {
  return isSorted ? (descends ? "descending" : "ascending") : "none";
}

/** Changes what the address says of the list; what is empty is left out. */
function setValues(changed: Record<string, string>): void {
  const now = address.peek();
  const values = Object.entries({ ...now.values, ...changed }).filter(([, value]) => value !== "");
  rename(writeAddress({ ...now, values: Object.fromEntries(values) }));
}

function Line({ row: { relation, view } }: { row: RelationRow }) {
  const { name, columns, rows, isDerived, clauses } = relation;
  return (
    <tr>
      <th scope="row">
        <a href={to("relations", [name])}>
          <bdi>{seen(name)}</bdi>
        </a>
      </th>
      <td class="relation-columns">
        {columns.length === 0 && <span class="quiet">no columns</span>}
        {columns.map((column, place) => (
          <span key={place}>
            {place > 0 && ", "}
            <bdi>{seen(column.name)}</bdi>: <span class="quiet">{seen(column.type)}</span>
          </span>
        ))}
      </td>
      <td class="right">
        {rows !== undefined && count(rows)}
        {rows === undefined && view?.rows !== undefined && (
          <span class="quiet" title="Rows that are kept of it">
            {count(view.rows)} kept
          </span>
        )}
      </td>
      <td>
        {isDerived ? `derived by ${counted(clauses, "clause")}` : kindText(relation)}
        {isDerived && rows !== undefined && ", and stored"}
        {view?.isAskedFor && <span class="tag">kept view</span>}
      </td>
    </tr>
  );
}

function Beginning({ session }: { session: Session }) {
  return (
    <section class="relation-beginning">
      <h1>
        Nothing is in <bdi>{seen(session.graph.value)}</bdi> yet
      </h1>
      {session.may("editor") ? (
        <Example program={EXAMPLE}>
          A relation comes into being with its first fact, and rules derive others from it. This program
          stores three facts, adds two rules, and asks what follows:
        </Example>
      ) : (
        <p>Whoever may change this graph can store facts in it.</p>
      )}
    </section>
  );
}
