// Where the arrow keys lead in the picture of the rules: along a column or row from one relation to the next, and across
// to the nearest one of the next column or row. So every relation is reached.

import type { Picture } from "./picture.ts";

const STEPS: Readonly<Record<string, readonly ["x" | "y", 1 | -1]>> = {
  ArrowLeft: ["x", -1],
  ArrowRight: ["x", 1],
  ArrowUp: ["y", -1],
  ArrowDown: ["y", 1],
};

/** In one column or row, the middles are at most so far apart. */
const SAME = 1;

/** The number of the node that a key leads to; undefined where there is none. */
export function beside({ nodes, reads }: Picture, at: number, key: string): number | undefined {
  const step = STEPS[key];
  const middles = nodes.map(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }));
  const from = middles[at];
  if (step === undefined || from === undefined) return undefined;
  const [axis, sign] = step;
  const other = axis === "x" ? "y" : "x";
  const ahead = middles.flatMap((middle, number) => {
    const steps = (middle[axis] - from[axis]) * sign;
    return steps > SAME ? [{ number, steps, aside: Math.abs(middle[other] - from[other]) }] : [];
  });
  const isAlong = axis === (reads === "columns" ? "y" : "x");
  const next = Math.min(...ahead.map(({ steps }) => steps));
  const [nearest] = ahead
    .filter(({ steps, aside }) => (isAlong ? aside <= SAME : steps <= next + SAME))
    .sort((one, two) => (isAlong ? one.steps - two.steps : one.aside - two.aside));
  return nearest?.number;
}
