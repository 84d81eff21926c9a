// The nodes as a list: what the picture shows to those who see it, for the keyboard and for screen readers, and to find a node.

import type { Value } from "@stratalog/client";
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { Grid, type GridColumn } from "../../parts/Grid.tsx";
import { counted } from "../../parts/text.ts";
import { found, type Order, sorted } from "./find.ts";
import type { Network } from "./network.ts";

interface NodeListProps {
  network: Network;
  chosen: number | undefined;
  onChoose: (node: number) => void;
  /** Told of Enter on the node that is chosen. */
  onExpand: (node: number) => void;
}

const COLUMNS: readonly GridColumn[] = [
  { name: "node", type: undefined },
  { name: "out", type: undefined },
  { name: "in", type: undefined },
];

export function NodeList({ network, chosen, onChoose, onExpand }: NodeListProps) {
  const [text, setText] = useState("");
  const [order, setOrder] = useState<Order>();
  const isByKey = useRef(false);
  const nodes = useMemo(() => sorted(network, found(network, text), order), [network, text, order]);
  const cell = useCallback(
    (row: number, column: number): Value => {
      const node = network.nodes[nodes[row] ?? -1];
      if (node === undefined) return null;
      return column === 0 ? node.name : column === 1 ? node.outgoing : node.incoming;
    },
    [network, nodes],
  );
  const place = chosen === undefined ? -1 : nodes.indexOf(chosen);

  const choose = (row: number) => {
    const node = nodes[row];
    if (node === undefined) return;
    if (isByKey.current && node === chosen) onExpand(node);
    else onChoose(node);
    isByKey.current = false;
  };
  const find = (event: KeyboardEvent) => {
    const [first] = nodes;
    if (event.key === "Enter" && first !== undefined) onChoose(first);
  };

  return (
    <div
      class="graph-list"
      onKeyDownCapture={(event: KeyboardEvent) => {
        isByKey.current = event.key === "Enter";
      }}
      onPointerDownCapture={() => {
        isByKey.current = false;
      }}
    >
      <label class="graph-find">
        <span>Find a node</span>
        <input
          type="search"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={find}
        />
      </label>
      <p class="quiet" role="status">
        {text === ""
          ? counted(network.nodes.length, "node")
          : `${nodes.length} of ${counted(network.nodes.length, "node")}`}
      </p>
      <Grid
        label="Nodes"
        columns={COLUMNS}
        rowCount={nodes.length}
        cell={cell}
        sorted={order}
        onSort={(column) =>
          setOrder((now) => ({ column, descends: now?.column === column ? !now.descends : column > 0 }))
        }
        onChoose={choose}
        chosen={place < 0 ? undefined : place}
      />
    </div>
  );
}
