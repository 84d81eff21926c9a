// The lines of the picture of the rules: each leaves a relation at the side that looks to the other one, and
// arrives at it so that one sees from where.

/** A point. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where something is, and how large. */
interface Place extends Point {
  readonly width: number;
  readonly height: number;
}

/** What is to be connected. */
export interface Connection {
  readonly from: Place;
  readonly to: Place;
  /** Through which points the line goes on its way. */
  readonly between: readonly Point[];
}

export interface Line {
  /** As an SVG path has it. */
  readonly path: string;
  readonly middle: Point;
}

/** Between two lines that meet at a side, if there is room for that. */
const APART = 9;
/** What stays free at the corners of a side. */
const CORNER = 9;

/** Draws connections. Where several meet at a side, they share it, in the order in which they come. */
export function linesOf(connections: readonly Connection[]): Line[] {
  const ends = connections.flatMap(({ from, to, between }, number) => {
    const isForward = (between[0]?.x ?? to.x) > from.x;
    return [
      { number, isStart: true, place: from, isRight: isForward, toward: between[0] ?? middleOf(to) },
      { number, isStart: false, place: to, isRight: !isForward, toward: between.at(-1) ?? middleOf(from) },
    ];
  });
  const sides = new Map<Place, [(typeof ends)[number][], (typeof ends)[number][]]>();
  for (const end of ends) {
    const both = sides.get(end.place) ?? [[], []];
    sides.set(end.place, both);
    both[end.isRight ? 1 : 0].push(end);
  }
  const starts: Point[] = [];
  const targets: Point[] = [];
  for (const side of [...sides.values()].flat()) {
    side.sort((a, b) => a.toward.y - b.toward.y);
    side.forEach(({ number, isStart, place, isRight }, order) => {
      const step = Math.min(APART, (place.height - 2 * CORNER) / Math.max(1, side.length - 1));
      const y = middleOf(place).y + (order - (side.length - 1) / 2) * step;
      (isStart ? starts : targets)[number] = { x: isRight ? place.x + place.width : place.x, y };
    });
  }
  return connections.map(({ between }, number) => {
    const points = [starts[number], ...between, targets[number]].filter((point) => point !== undefined);
    return { path: pathOf(points), middle: points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 } };
  });
}

/** A line from a place to itself, above it, and where there is room for a word beside that. */
export function loopAt(place: Place, height: number): { path: string; beside: Point } {
  const { x } = middleOf(place);
  const top = { left: { x: x - 16, y: place.y }, right: { x: x + 16, y: place.y } };
  // The middle of such a line is three quarters of the way to the points that bend it.
  const bend = place.y - (height - 2) / 0.75;
  const path = `M${pair(top.right)}C${pair({ x: x + 24, y: bend })} ${pair({ x: x - 24, y: bend })} ${pair(top.left)}`;
  return { path, beside: { x: x + 48, y: place.y - height / 2 } };
}

/** A line through points that is level at each of them. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...others] = points;
  if (first === undefined || others.length === 0) return "";
  let from = first;
  let path = `M${pair(first)}`;
  for (const to of others) {
    const x = (from.x + to.x) / 2;
    path +=
      from.y === to.y ? `L${pair(to)}` : `C${pair({ x, y: from.y })} ${pair({ x, y: to.y })} ${pair(to)}`;
    from = to;
  }
  return path;
}

/** A line that is upright at both ends; beside each other, they are connected by an arc above them. */
export function pathDown(from: Point, to: Point): string {
  const bend = from.y === to.y ? from.y - 2 * APART : (from.y + to.y) / 2;
  return `M${pair(from)}C${pair({ x: from.x, y: bend })} ${pair({ x: to.x, y: bend })} ${pair(to)}`;
}

function middleOf({ x, y, width, height }: Place): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

function pair({ x, y }: Point): string {
  return `${Math.round(x * 10) / 10},${Math.round(y * 10) / 10}`;
}
