// The stored facts that a proof rests on, each once. One that is chosen is marked wherever the tree has it.

import type { ProofTree } from "@stratalog/client";
import { useId, useState } from "preact/hooks";
import { count, counted } from "../parts/text.ts";
import type { Session } from "../session/session.ts";
import { Fact } from "./Fact.tsx";
import { titleOf, typesOf } from "./words.ts";

/** So many are shown at a time. */
const SHOWN = 200;
/** From so many on, there is a field to look for some of them. */
const MANY = 15;

interface BaseFactsProps {
  session: Session;
  tree: ProofTree;
  /** How often the tree has a node. */
  usesOf: (id: string) => number;
  chosen: string | undefined;
  onChoose: (id: string | undefined) => void;
  /** Goes to the next place of the chosen one. */
  onNext: () => void;
}

export function BaseFacts({ session, tree, usesOf, chosen, onChoose, onNext }: BaseFactsProps) {
  const field = useId();
  const [sought, setSought] = useState("");
  const [most, setMost] = useState(SHOWN);
  const catalog = session.catalog.value;
  const all = (tree.base_facts ?? []).flatMap((id) => {
    const node = tree.nodes[id];
    return node === undefined ? [] : [{ id, node }];
  });
  const wanted = sought.trim().toLowerCase();
  const found = all.filter(({ node }) => {
    if (wanted === "") return true;
    return titleOf(node, typesOf(catalog, node.conclusion.pred), []).toLowerCase().includes(wanted);
  });
  const shown = found.slice(0, most);
  return (
    <section class="panel base-facts" aria-labelledby={`${field}-title`}>
      <h2 id={`${field}-title`}>
        What this rests on <small class="quiet">{counted(all.length, "stored fact")}</small>
      </h2>
      {all.length === 0 && <p class="quiet">No stored fact: it holds without any.</p>}
      {all.length > MANY && (
        <>
          <label class="unseen" for={field}>
            Look for facts
          </label>
          <input
            id={field}
            type="search"
            placeholder="Look for facts"
            value={sought}
            onInput={(event) => {
              setSought(event.currentTarget.value);
              setMost(SHOWN);
            }}
          />
        </>
      )}
      <ul>
        {shown.map(({ id, node }) => (
          <li key={id}>
            <button
              type="button"
              class="plain"
              aria-pressed={id === chosen}
              onClick={() => onChoose(id === chosen ? undefined : id)}
            >
              <Fact session={session} conclusion={node.conclusion} />
              {node.source === "session" && <span class="tag">of this session</span>}
            </button>
          </li>
        ))}
      </ul>
      {shown.length < all.length && (
        <p class="quiet">
          {count(shown.length)} of {count(all.length)}{" "}
          {shown.length < found.length && (
            <button type="button" onClick={() => setMost(most + SHOWN)}>
              Show more
            </button>
          )}
        </p>
      )}
      <p class="base-uses" role="status">
        {chosen !== undefined && `Used in ${counted(usesOf(chosen), "place")}, marked in the tree.`}
      </p>
      {chosen !== undefined && usesOf(chosen) > 0 && (
        <button type="button" onClick={onNext}>
          Go to the next one
        </button>
      )}
    </section>
  );
}
