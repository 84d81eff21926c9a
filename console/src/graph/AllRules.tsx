// All rules of a graph as a picture and as a list, or those that have to do with one relation.

import { useEffect, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { count, counted } from "../parts/text.ts";
import { address, rename, to, writeAddress } from "../session/address.ts";
import type { Catalog } from "../session/catalog.ts";
import { Drawing } from "./Drawing.tsx";
import type { Way } from "./dependencies.ts";
import type { Details } from "./details.ts";
import { type Choice, chosenOf, namesIn, relationsToDraw } from "./drawn.ts";
import { RulesTable } from "./RulesTable.tsx";

/** More relations are not drawn at once: nobody would find anything. */
const MOST = 300;

const WAYS: readonly (readonly [Way, string])[] = [
  ["both", "and all that has to do with it"],
  ["below", "and what it depends on"],
  ["above", "and what depends on it"],
];

export function AllRules({ catalog, details }: { catalog: Catalog; details: Details }) {
  const { dependencies, views } = details;
  const { of, way } = address.value.values;
  const choice: Choice = { of, way: WAYS.find(([name]) => name === way)?.[0] ?? "both" };
  const names = namesIn(catalog, dependencies);
  const relations = relationsToDraw(chosenOf(names, dependencies, choice), catalog, dependencies, views);
  const isDrawn = relations.length > 0 && relations.length <= MOST;
  return (
    <>
      <Filter names={names} choice={choice} shown={relations.length} />
      {of !== undefined && relations.length === 0 && (
        <p>
          No rule derives or reads a relation <bdi>{seen(of)}</bdi>.
        </p>
      )}
      {relations.length > MOST && (
        <p class="notice">
          {counted(relations.length, "relation")} are too many for a picture: choose one of them above, to see
          what it depends on. The list has all.
        </p>
      )}
      {isDrawn && <Drawing relations={relations} dependencies={dependencies} of={of} />}
      {relations.length > 0 && (
        <details class="rules-list" open={!isDrawn}>
          <summary>The same as a list</summary>
          <RulesTable relations={relations} dependencies={dependencies} />
        </details>
      )}
    </>
  );
}

interface FilterProps {
  names: readonly string[];
  choice: Choice;
  shown: number;
}

function Filter({ names, choice: { of = "", way }, shown }: FilterProps) {
  // While somebody types, others may change the graph.
  const [draft, setDraft] = useState(of);
  useEffect(() => setDraft(of), [of]);
  const set = (changed: Record<string, string>) => {
    const now = address.peek();
    const values = Object.entries({ ...now.values, ...changed }).filter(([, value]) => value !== "");
    rename(writeAddress({ ...now, values: Object.fromEntries(values) }));
  };
  return (
    <div class="rules-filter">
      <label for="rules-of">Only</label>
      <input
        id="rules-of"
        type="search"
        list="rules-names"
        autocomplete="off"
        spellcheck={false}
        placeholder="all relations"
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={(event) => set({ of: event.currentTarget.value.trim() })}
      />
      <datalist id="rules-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label for="rules-way" class="unseen">
        With what
      </label>
      <select
        id="rules-way"
        value={way}
        disabled={of === ""}
        onChange={(event) => set({ way: event.currentTarget.value })}
      >
        {WAYS.map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
      <span class="quiet" role="status">
        {shown < names.length
          ? `${count(shown)} of ${counted(names.length, "relation")}`
          : counted(shown, "relation")}
      </span>
      {of !== "" && <a href={to("rules")}>All</a>}
    </div>
  );
}
