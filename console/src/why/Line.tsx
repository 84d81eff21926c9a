// One line of a proof: the fact, why it holds, and what can be asked of it.

import type { ProofNode } from "@stratalog/client";
import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";
import { detailsOf } from "./Details.tsx";
import { Fact } from "./Fact.tsx";
import { Reason } from "./Reason.tsx";
import { type Telling, typesIn } from "./telling.ts";
import type { Item } from "./tree.ts";
import { patternOf } from "./words.ts";

interface LineProps {
  telling: Telling;
  node: ProofNode;
  item: Item;
  isOpen: boolean;
  isMarked: boolean;
  /** Whether it is the root of another proof of the same. */
  isSecond: boolean;
  /** Whether the keyboard comes to what is in the line: -1 in all lines but one. */
  tab: number;
  /** The id of the details of the line. */
  details: string;
  isDetailed: boolean;
  onToggle: () => void;
  onDetails: () => void;
  onAbove: (above: number) => void;
}

export function Line(props: LineProps) {
  const { telling, node, item, isOpen, isMarked, isSecond, tab } = props;
  const { details, isDetailed, onToggle, onDetails, onAbove } = props;
  const { above, children } = item;
  const more = above === undefined ? detailsOf(node) : undefined;
  const click = (event: MouseEvent) => {
    const isOnOther = (event.target as HTMLElement).closest("a, button") !== null;
    if (!isOnOther && children.length > 0 && getSelection()?.isCollapsed !== false) onToggle();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a convenience of the mouse
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree hears the keys
    <div
      class={`proof-line ${isMarked ? "marked" : ""} ${children.length > 0 ? "folds" : ""}`}
      onClick={click}
    >
      <span class="proof-sign" aria-hidden="true">
        {children.length === 0 ? "" : isOpen ? "▾" : "▸"}
      </span>
      {isSecond && <span class="quiet">or </span>}
      {node.kind === "negation" ? (
        <>
          no <Code text={seen(patternOf(node))} />
        </>
      ) : (
        <Fact
          session={telling.session}
          conclusion={node.conclusion}
          columns={telling.columns}
          types={typesIn(telling, node.conclusion.pred)}
          tab={tab}
        />
      )}{" "}
      {above === undefined ? (
        <Reason telling={telling} node={node} tab={tab} />
      ) : (
        <button type="button" class="link" tabIndex={tab} onClick={() => onAbove(above)}>
          above
        </button>
      )}
      {more !== undefined && (
        <button
          type="button"
          class="plain proof-button"
          tabIndex={tab}
          aria-expanded={isDetailed}
          aria-controls={isDetailed ? details : undefined}
          onClick={onDetails}
        >
          {more}
        </button>
      )}
      {isMarked && <span class="tag">marked</span>}
    </div>
  );
}
