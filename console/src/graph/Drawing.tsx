// The picture of some rules in its frame: with all lines, or where that are too many, in bands.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Shown } from "../parts/Shown.tsx";
import { useTask } from "../parts/useTask.ts";
import { areMany, bandsOf } from "./bands.ts";
import type { Dependencies } from "./dependencies.ts";
import { PictureFrame } from "./PictureFrame.tsx";
import { PictureOfRules } from "./PictureOfRules.tsx";
import { type Picture, type PictureRelation, pictureOf } from "./picture.ts";

/** Of the width that there is, frame and scroll bar take so much. */
const EDGES = 20;

interface DrawingProps {
  relations: readonly PictureRelation[];
  dependencies: Dependencies;
  /** The relation that was asked for. */
  of: string | undefined;
}

export function Drawing({ relations, dependencies, of }: DrawingProps) {
  const room = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = room.current;
    if (element === null) return;
    const look = () => setWidth(element.clientWidth);
    const watch = new ResizeObserver(look);
    watch.observe(element);
    look();
    return () => watch.disconnect();
  }, []);
  const inBands = areMany(relations);
  // Numbers of rows change with every commit. Only what has to do with the layout makes another one.
  const key = JSON.stringify([
    relations.map(({ name, about, stratum }) => [name, about.length, stratum ?? null]),
    dependencies.readings,
    inBands ? width : 0,
  ]);
  // It may take a while: what is there already is shown before that.
  const laidOut = useTask(async () => {
    await new Promise((done) => setTimeout(done));
    return inBands ? bandsOf(relations, dependencies, width - EDGES) : pictureOf(relations, dependencies);
  }, [key]);
  const about = new Map(relations.map((relation) => [relation.name, relation.about]));
  return (
    <div ref={room}>
      <Shown task={laidOut}>
        {(picture) => (
          <PictureFrame
            key={`${picture.reads} ${picture.nodes.map(({ relation }) => relation.name).join(" ")}`}
            label="Picture of the rules"
            width={picture.width}
            height={picture.height}
            fits={picture.reads === "rows" ? "width" : "all"}
            start={startOf(picture, of)}
            legend={<Legend isOfOne={picture.reads === "rows"} />}
          >
            {(scale) => <PictureOfRules picture={picture} scale={scale} about={about} of={of} />}
          </PictureFrame>
        )}
      </Shown>
    </div>
  );
}

/** The relation that was asked for, and else where everything begins. */
function startOf({ nodes, height, reads }: Picture, of: string | undefined): { x: number; y: number } {
  const chosen = nodes.find(({ relation }) => relation.name === of);
  if (chosen === undefined) return { x: 0, y: reads === "rows" ? 0 : height / 2 };
  return { x: chosen.x + chosen.width / 2, y: chosen.y + chosen.height / 2 };
}

/** What the forms mean; and where not all lines are drawn, whose are. */
function Legend({ isOfOne }: { isOfOne: boolean }) {
  const lines: [string, string][] = [
    ["", "is read by rules of"],
    ["negated", "only under negation"],
    ["aggregated", "only by an aggregate"],
    ["recursive", "both follow from each other"],
  ];
  return (
    <ul class="picture-legend">
      {isOfOne && <li>Lines are those of the relation that one is at.</li>}
      {lines.map(([how, text]) => (
        <li key={text}>
          <svg width="38" height="10" aria-hidden="true">
            <g class={`picture-edge ${how}`}>
              <path d="M1,5H36" marker-end="url(#picture-arrow)" />
            </g>
          </svg>
          {text}
        </li>
      ))}
      <li>
        <svg class="picture-node stored" width="22" height="14" aria-hidden="true">
          <rect x="1" y="1" width="20" height="12" />
          <path d="M4,1V13" />
        </svg>
        stored
      </li>
      <li>
        <svg class="picture-node" width="22" height="14" aria-hidden="true">
          <rect x="1" y="1" width="20" height="12" rx="5" />
        </svg>
        derived
      </li>
    </ul>
  );
}
