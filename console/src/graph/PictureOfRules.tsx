// The rules as a drawing: what is read at the left, what is derived from it at the right, strata as boxes.
//
// Lines are told apart by form: dashed where something is read only under negation, dotted where only by an
// aggregate, thick where both follow from each other. What they say is written beside them too.

import { useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { to } from "../session/address.ts";
import type { Picture, PictureEdge, PictureNode } from "./picture.ts";

interface PictureOfRulesProps {
  picture: Picture;
  scale: number;
  /** What stands below each name now: numbers change more often than the picture does. */
  about: ReadonlyMap<string, string>;
  /** The relation that was asked for. */
  of: string | undefined;
}

export function PictureOfRules({ picture, scale, about, of }: PictureOfRulesProps) {
  const { width, height, nodes, edges, boxes } = picture;
  /** The relation whose edges are brought out. */
  const [lit, setLit] = useState<string | undefined>();
  const isLit = ({ reading: { relation, reads } }: PictureEdge) => relation === lit || reads === lit;
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: what is in it are links, each with a name of its own
    <svg class="picture" width={width * scale} height={height * scale} viewBox={`0 0 ${width} ${height}`}>
      <defs>
        <marker
          id="picture-arrow"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="8"
          markerHeight="8"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path class="picture-arrow" d="M0,0L8,4L0,8z" />
        </marker>
      </defs>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in here can be focused */}
      <g aria-hidden="true">
        {boxes.map(({ stratum, ...place }) => (
          <g key={stratum}>
            <rect class="picture-box" {...place} rx="8" />
            <text class="picture-stratum" x={place.x + place.width / 2} y={place.y + 15} text-anchor="middle">
              stratum {stratum}
            </text>
          </g>
        ))}
        {edges.map((edge) => (
          <Edge key={`${edge.reading.reads} ${edge.reading.relation}`} edge={edge} isLit={isLit(edge)} />
        ))}
      </g>
      {nodes.map((node) => (
        <Node
          key={node.relation.name}
          node={node}
          about={about.get(node.relation.name) ?? node.relation.about}
          isChosen={node.relation.name === of}
          onLit={setLit}
        />
      ))}
    </svg>
  );
}

function Edge({ edge: { reading, path, label, at }, isLit }: { edge: PictureEdge; isLit: boolean }) {
  const { hows, isRecursive } = reading;
  const how = hows.includes("positive") ? "" : hows.includes("negated") ? "negated" : "aggregated";
  return (
    <g class={`picture-edge ${how} ${isRecursive ? "recursive" : ""} ${isLit ? "lit" : ""}`}>
      <path d={path} marker-end="url(#picture-arrow)" />
      {label !== "" && (
        <text x={at.x} y={at.y + 4} text-anchor="middle">
          {label}
        </text>
      )}
    </g>
  );
}

interface NodeProps {
  node: PictureNode;
  about: string;
  isChosen: boolean;
  onLit: (name: string | undefined) => void;
}

function Node({ node, about, isChosen, onLit }: NodeProps) {
  const { relation, label, x, y, width, height } = node;
  const isStored = relation.stratum === undefined;
  const middle = x + width / 2;
  const light = () => onLit(relation.name);
  const dim = () => onLit(undefined);
  return (
    <a
      class={`picture-node ${isStored ? "stored" : "derived"} ${isChosen ? "chosen" : ""}`}
      href={isStored ? to("relations", [relation.name]) : to("rules", [relation.name])}
      onPointerEnter={light}
      onPointerLeave={dim}
      onFocus={light}
      onBlur={dim}
    >
      <rect x={x} y={y} width={width} height={height} rx={isStored ? 0 : 12}>
        {label !== relation.name && <title>{seen(relation.name)}</title>}
      </rect>
      {isStored && <path d={`M${x + 5},${y}V${y + height}`} />}
      <text class="picture-name" x={middle} y={y + 18} text-anchor="middle">
        {seen(label)}
      </text>{" "}
      <text class="picture-about" x={middle} y={y + 33} text-anchor="middle">
        {about}
      </text>
    </a>
  );
}
