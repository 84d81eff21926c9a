// The node that is chosen: its value, its neighbours, and those that the relation has beyond the picture.

import { Cell } from "../../parts/Cell.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count, counted } from "../../parts/text.ts";
import { type Network, neighboursOf } from "./network.ts";

interface NodeDetailProps {
  network: Network;
  node: number;
  /** The relation that can be asked for neighbours, if there is one. */
  relation: string | undefined;
  /** How many edges there are beyond those that were asked for; undefined before anybody has asked. */
  further: number | undefined;
  isAsking: boolean;
  problem: unknown;
  onChoose: (node: number | undefined) => void;
  onExpand: (node: number) => void;
}

/** Of more neighbours the first ones are listed. */
const LISTED = 50;

export function NodeDetail(props: NodeDetailProps) {
  const { network, node, relation, further, isAsking, problem, onChoose, onExpand } = props;
  const found = network.nodes[node];
  if (found === undefined) return null;
  const { value, type, outgoing, incoming } = found;
  const beside = neighboursOf(network, node);
  return (
    <section class="graph-detail" aria-label="Chosen node">
      <p class="graph-name">
        <Cell value={value} {...(type === undefined ? {} : { type })} />
        <button type="button" class="plain" aria-label="Choose no node" onClick={() => onChoose(undefined)}>
          ✕
        </button>
      </p>
      <p class="quiet" role="status">
        {`${count(outgoing)} out, ${count(incoming)} in`}
        {further !== undefined && (further === 0 ? ", all that there are" : `, ${count(further)} more`)}
      </p>
      {relation !== undefined && further !== 0 && (
        <p>
          <button type="button" disabled={isAsking} onClick={() => onExpand(node)}>
            {further === undefined ? "Neighbours" : "More neighbours"} in <bdi>{relation}</bdi>
          </button>
        </p>
      )}
      {problem !== undefined && <Failure problem={problem} />}
      {beside.length > 0 && (
        <>
          <p class="quiet">
            {beside.length > LISTED
              ? `${LISTED} of ${counted(beside.length, "neighbour")}`
              : counted(beside.length, "neighbour")}
          </p>
          <ul>
            {beside.slice(0, LISTED).map((other) => (
              <li key={other}>
                <button type="button" class="link" onClick={() => onChoose(other)}>
                  <bdi>{network.nodes[other]?.name}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
