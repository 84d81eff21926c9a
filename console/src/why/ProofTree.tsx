// A proof as a tree that folds, to be walked through with the keyboard as other trees are.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Details, detailsOf } from "./Details.tsx";
import { Line } from "./Line.tsx";
import type { How } from "./question.ts";
import { type Telling, typesIn } from "./telling.ts";
import {
  hiddenOf,
  inSight,
  moreOf,
  moreShown,
  type Open,
  type Outline,
  pressed,
  revealed,
  rowsOf,
  type Step,
  shownOf,
  toggled,
} from "./tree.ts";
import { factText, titleOf } from "./words.ts";

/** Where somebody is in a tree, and what of it is open. */
export interface Place extends Step {
  /** Whether the keyboard goes there. */
  readonly moves: boolean;
}

interface ProofTreeProps {
  telling: Telling;
  outline: Outline;
  place: Place;
  onPlace: (place: Place) => void;
  /** The node whose places are marked. */
  marked: string | undefined;
}

export function ProofTree({ telling, outline, place, onPlace, marked }: ProofTreeProps) {
  const list = useRef<HTMLUListElement>(null);
  const [detailed, setDetailed] = useState<ReadonlySet<number>>(new Set());
  const name = useId();
  const { open } = place;
  const row = inSight(outline, open, place.row);

  useLayoutEffect(() => {
    if (!place.moves) return;
    const element = list.current?.querySelector<HTMLElement>(`[data-row="${row}"]`);
    element?.focus({ preventScroll: true });
    element?.firstElementChild?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [place]);

  const go = ({ row: to, open: now }: Step) => onPlace({ row: to, open: now, moves: true });
  const onKey = (event: KeyboardEvent) => {
    const at = (event.target as HTMLElement).dataset["row"];
    if (at === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = pressed(outline, open, Number(at), event.key) ?? begins(event.key, Number(at));
    if (step === undefined) return;
    event.preventDefault();
    go(step);
  };
  /** The next row whose fact begins with a letter. */
  const begins = (key: string, from: number): Step | undefined => {
    if (!/^[\p{L}\p{N}]$/u.test(key)) return undefined;
    const rows = rowsOf(outline, open);
    const after = rows.indexOf(from) + 1;
    const next = [...rows.slice(after), ...rows.slice(0, after)].find((each) => {
      return label(each).toLowerCase().startsWith(key.toLowerCase());
    });
    return next === undefined ? undefined : { row: next, open };
  };
  const label = (number: number): string => {
    const node = telling.tree.nodes[outline.items[number]?.id ?? ""];
    return node === undefined ? "" : titleOf(node, typesIn(telling, node.conclusion.pred), telling.columns);
  };
  const show = (number: number) => {
    const now = new Set(detailed);
    if (!now.delete(number)) now.add(number);
    setDetailed(now);
  };

  const branch = (numbers: readonly number[]) =>
    numbers.map((number) => {
      const item = outline.items[number];
      const node = item === undefined ? undefined : telling.tree.nodes[item.id];
      if (item === undefined || node === undefined) return null;
      const types = typesIn(telling, node.conclusion.pred);
      const isOpen = open.has(number);
      const hidden = hiddenOf(outline, open, number);
      const isMarked = item.id === marked;
      const all = (how: How) =>
        node.conclusion.pred === "?"
          ? telling.again(how)
          : telling.ask(factText(node.conclusion, types), how);
      return (
        <li
          key={number}
          role="treeitem"
          data-row={number}
          tabIndex={number === row ? 0 : -1}
          aria-level={item.level}
          aria-posinset={item.place + 1}
          aria-setsize={item.siblings}
          aria-expanded={item.children.length === 0 ? undefined : isOpen}
          onFocus={() => {
            if (number !== row) onPlace({ row: number, open, moves: false });
          }}
        >
          <Line
            telling={telling}
            node={node}
            item={item}
            isOpen={isOpen}
            isMarked={isMarked}
            isSecond={item.parent === undefined && item.place > 0}
            tab={number === row ? 0 : -1}
            details={detailsId(name, number)}
            isDetailed={detailed.has(number)}
            onToggle={() => go({ row: number, open: toggled(open, number) })}
            onDetails={() => show(number)}
            onAbove={(above) => go({ row: above, open: revealed(outline, open, above) })}
          />
          {detailed.has(number) && detailsOf(node) !== undefined && (
            // A group has no part in the name of its line.
            // biome-ignore lint/a11y/useSemanticElements: this is no part of a form
            <div id={detailsId(name, number)} role="group">
              <Details node={node} all={all} />
            </div>
          )}
          {isOpen && item.children.length > 0 && (
            // biome-ignore lint/a11y/useSemanticElements: the groups of a tree are lists in its lists
            <ul role="group">
              {branch(shownOf(outline, open, number))}
              {hidden > 0 && (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the tree hears the keys
                <li
                  role="treeitem"
                  data-row={moreOf(number)}
                  tabIndex={moreOf(number) === row ? 0 : -1}
                  aria-level={item.level + 1}
                  class="proof-more"
                  onClick={() => go(moreShown(outline, open, number))}
                >
                  Show more: {hidden} are not shown
                </li>
              )}
            </ul>
          )}
        </li>
      );
    });

  return (
    // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a tree of nested lists, as ARIA has it
    <ul ref={list} class="proof-tree" role="tree" aria-label="Proof" onKeyDown={onKey}>
      {branch(outline.roots)}
    </ul>
  );
}

function detailsId(name: string, number: number): string {
  return `${name}-details-${number}`;
}

/** What is open and where one is, when a proof is first seen. */
export function placeAtFirst(open: Open): Place {
  return { row: 0, open, moves: false };
}
