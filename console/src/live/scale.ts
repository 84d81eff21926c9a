// Lines of a chart: from values to the path of an SVG that is 100 wide and 100 high.

/** A value at a place; where it is undefined, the line has a gap. */
export interface Point {
  readonly x: number;
  readonly y: number | undefined;
}

/** What of the plane is seen. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** A frame in which all lines have room; undefined if there is no value. */
export function frameOf(lines: readonly (readonly Point[])[], fromZero: boolean): Frame | undefined {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const line of lines) {
    for (const { x, y } of line) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      if (y === undefined) continue;
      bottom = Math.min(bottom, y);
      top = Math.max(top, y);
    }
  }
  if (bottom > top) return undefined;
  if (fromZero) bottom = Math.min(0, bottom);
  // What never changes stands in the middle, or where it is from zero.
  if (bottom === top) {
    top += 1;
    if (!fromZero) bottom -= 1;
  }
  return { left, right, bottom, top };
}

/** The path of a line. With `isStep` each value holds until the next one, and the last to the end. */
export function pathOf(points: readonly Point[], frame: Frame, isStep = false): string {
  const width = frame.right - frame.left || 1;
  const height = frame.top - frame.bottom;
  const steps: string[] = [];
  /** How many values the piece has that is being drawn. */
  let drawn = 0;
  const end = () => {
    // A value between two gaps is a dot.
    if (drawn === 1) steps.push("h0");
    drawn = 0;
  };
  for (const { x, y } of points) {
    if (y === undefined) {
      end();
      continue;
    }
    const across = rounded(((x - frame.left) / width) * 100);
    const down = rounded(100 - ((y - frame.bottom) / height) * 100);
    if (drawn === 0) steps.push(`M${across} ${down}`);
    else steps.push(isStep ? `H${across}V${down}` : `L${across} ${down}`);
    drawn += 1;
  }
  if (isStep && drawn > 0) steps.push("H100");
  else end();
  return steps.join("");
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** What somebody should hear who does not see the line. */
export function summaryOf(name: string, points: readonly Point[], text: (y: number) => string): string {
  const values = points.flatMap(({ y }) => (y === undefined ? [] : [y]));
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return `${name}: no values`;
  const [least, most] = boundsOf(values);
  return `${name}: first ${text(first)}, last ${text(last)}, least ${text(least)}, most ${text(most)}`;
}

/** The least and the greatest. */
export function boundsOf(values: readonly number[]): [number, number] {
  return [
    values.reduce((least, value) => Math.min(least, value), Infinity),
    values.reduce((most, value) => Math.max(most, value), -Infinity),
  ];
}
