// A proof with all that it rests on: the tree, and beside it the stored facts.

import { useMemo, useState } from "preact/hooks";
import { BaseFacts } from "./BaseFacts.tsx";
import { type Place, ProofTree, placeAtFirst } from "./ProofTree.tsx";
import type { Telling } from "./telling.ts";
import { type Open, openAtFirst, outlineOf, revealed } from "./tree.ts";

/** So many places of a chosen fact are opened at once. */
const OPENED = 50;

/** What somebody sees of a proof. */
interface Seen {
  /** Of this one: of another one, it is as at first. */
  readonly of: object;
  readonly place: Place;
  /** The stored fact that is chosen. */
  readonly chosen: string | undefined;
}

export function ProofView({ telling }: { telling: Telling }) {
  const { tree, session } = telling;
  const outline = useMemo(() => outlineOf(tree), [tree]);
  const first = useMemo<Seen>(
    () => ({ of: outline, place: placeAtFirst(openAtFirst(outline)), chosen: undefined }),
    [outline],
  );
  const [kept, setSeen] = useState(first);
  const seen = kept.of === outline ? kept : first;
  const { place, chosen } = seen;
  const usesOf = (id: string) => outline.uses.get(id) ?? [];

  const choose = (id: string | undefined) => {
    let open: Open = place.open;
    for (const use of id === undefined ? [] : usesOf(id).slice(0, OPENED))
      open = revealed(outline, open, use);
    setSeen({ ...seen, chosen: id, place: { ...place, open, moves: false } });
  };
  const next = () => {
    const uses = usesOf(chosen ?? "");
    const use = uses.find((each) => each > place.row) ?? uses[0];
    if (use === undefined) return;
    setSeen({ ...seen, place: { row: use, open: revealed(outline, place.open, use), moves: true } });
  };

  return (
    <div class="proof">
      <section class="panel proof-frame" aria-label="Proof">
        <ProofTree
          key={outline}
          telling={telling}
          outline={outline}
          place={place}
          onPlace={(now) => setSeen({ ...seen, place: now })}
          marked={chosen}
        />
      </section>
      <BaseFacts
        key={tree.query}
        session={session}
        tree={tree}
        usesOf={(id) => usesOf(id).length}
        chosen={chosen}
        onChoose={choose}
        onNext={next}
      />
    </div>
  );
}
