// The rules as a drawing, with strata as boxes. Of very many, only the lines of the relation are drawn that somebody is
// at. The keyboard comes to one relation, and arrows lead to the others.
//
// Lines are told apart by form: dashed where something is read only under negation, dotted where only by an
// aggregate, thick where both follow from each other. What they say is written beside them too.

import { useRef, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { to } from "../session/address.ts";
import { beside } from "./beside.ts";
import { BAND_ROOM, type Picture, type PictureBox, type PictureEdge, type PictureNode } from "./picture.ts";

interface PictureOfRulesProps {
  picture: Picture;
  scale: number;
  /** What stands below each name now: numbers change more often than the picture does. */
  about: ReadonlyMap<string, string>;
  /** The relation that was asked for. */
  of: string | undefined;
}

export function PictureOfRules({ picture, scale, about, of }: PictureOfRulesProps) {
  const { width, height, nodes, edges, boxes, reads } = picture;
  const drawing = useRef<SVGSVGElement>(null);
  /** Where the keyboard was last. */
  const [last, setLast] = useState<string | undefined>();
  /** The relation whose edges are brought out. */
  const [at, setAt] = useState<string | undefined>();
  const lit = at ?? (reads === "rows" ? of : undefined);
  const isLit = ({ reading }: PictureEdge) => reading.relation === lit || reading.reads === lit;
  const drawn = reads === "rows" ? edges.filter(isLit) : edges;
  const near = new Set(edges.filter(isLit).flatMap(({ reading }) => [reading.relation, reading.reads]));
  const numberOf = (name: string | undefined) => nodes.findIndex(({ relation }) => relation.name === name);
  const stop = [numberOf(last), numberOf(of), 0].find((number) => number >= 0);
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = beside(picture, numberOf(last), event.key);
    if (next === undefined) return;
    event.preventDefault();
    drawing.current?.querySelectorAll<SVGAElement>("a").item(next).focus();
  };
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: what is in it are links, each with a name of its own
    <svg
      ref={drawing}
      class={`picture picture-${reads}`}
      width={width * scale}
      height={height * scale}
      viewBox={`0 0 ${width} ${height}`}
      onKeyDown={onKey}
    >
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
        {boxes.map((box) => (
          <Box key={box.stratum} box={box} reads={reads} />
        ))}
        {drawn.map((edge) => (
          <Edge key={`${edge.reading.reads} ${edge.reading.relation}`} edge={edge} isLit={isLit(edge)} />
        ))}
      </g>
      {nodes.map((node, number) => (
        <Node
          key={node.relation.name}
          node={node}
          about={about.get(node.relation.name) ?? node.relation.about}
          isChosen={node.relation.name === of}
          isNear={near.has(node.relation.name)}
          isStop={number === stop}
          onLit={setAt}
          onFocus={setLast}
        />
      ))}
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in here can be focused */}
      <g aria-hidden="true">
        {drawn.map(({ reading, label, at: { x, y } }) => (
          <text
            key={`${reading.reads} ${reading.relation}`}
            class="picture-label"
            x={x}
            y={y + 4}
            text-anchor="middle"
          >
            {label}
          </text>
        ))}
      </g>
    </svg>
  );
}

function Box({ box: { stratum, ...place }, reads }: { box: PictureBox; reads: Picture["reads"] }) {
  const x = reads === "rows" ? place.x + BAND_ROOM : place.x + place.width / 2;
  return (
    <g>
      <rect class="picture-box" {...place} rx="8" />
      <text
        class="picture-stratum"
        x={x}
        y={place.y + 15}
        text-anchor={reads === "rows" ? "start" : "middle"}
      >
        {stratum === undefined ? "no rule derives" : `stratum ${stratum}`}
      </text>
    </g>
  );
}

function Edge({ edge: { reading, path }, isLit }: { edge: PictureEdge; isLit: boolean }) {
  const { hows, isRecursive } = reading;
  const how = hows.includes("positive") ? "" : hows.includes("negated") ? "negated" : "aggregated";
  return (
    <g class={`picture-edge ${how} ${isRecursive ? "recursive" : ""} ${isLit ? "lit" : ""}`}>
      <path d={path} marker-end="url(#picture-arrow)" />
    </g>
  );
}

interface NodeProps {
  node: PictureNode;
  about: string;
  isChosen: boolean;
  /** Whether an edge leads to it that is brought out. */
  isNear: boolean;
  /** Whether the keyboard comes to it. */
  isStop: boolean;
  /** Told whose edges are to be brought out. */
  onLit: (name: string | undefined) => void;
  onFocus: (name: string) => void;
}

function Node({ node, about, isChosen, isNear, isStop, onLit, onFocus }: NodeProps) {
  const { relation, label, x, y, width, height } = node;
  const isStored = relation.stratum === undefined;
  const middle = x + width / 2;
  const light = () => onLit(relation.name);
  const dim = () => onLit(undefined);
  return (
    <a
      class={`picture-node ${isStored ? "stored" : "derived"} ${isChosen ? "chosen" : ""} ${isNear ? "near" : ""}`}
      tabindex={isStop ? 0 : -1}
      href={isStored ? to("relations", [relation.name]) : to("rules", [relation.name])}
      onPointerEnter={light}
      onPointerLeave={dim}
      onFocus={() => {
        light();
        onFocus(relation.name);
      }}
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
