// The picture of very many rules: what no rule derives above, below that one stratum after the other, and in each the
// relations side by side as words are in a text. So their names can be read, however many there are, in whatever
// width there is. The lines nobody could follow: those are to be drawn that have to do with one relation.

import { type Dependencies, howText } from "./dependencies.ts";
import { loopAt, type Point, pathDown } from "./lines.ts";
import {
  BAND_ROOM,
  isLoop,
  NODE_HEIGHT,
  type Picture,
  type PictureBox,
  type PictureEdge,
  type PictureNode,
  type PictureRelation,
  type Place,
  shortened,
  TITLE_HEIGHT,
  widthOf,
} from "./picture.ts";

/** More relations, or strata, cannot be looked at with all their lines. */
const MOST = 60;
const MOST_STRATA = 12;
/** Between two relations, and between two strata. */
const APART = 14;
/** It is not made narrower. */
const LEAST = 200;

/** Whether relations are so many that they are better drawn in bands. */
export function areMany(relations: readonly PictureRelation[]): boolean {
  return relations.length > MOST || new Set(relations.map(({ stratum }) => stratum)).size > MOST_STRATA;
}

/** Lays relations out in so much width, with those readings that are between them. */
export function bandsOf(
  relations: readonly PictureRelation[],
  { readings }: Dependencies,
  room: number,
): Picture {
  const width = Math.max(LEAST, room);
  const [left, right] = [1 + BAND_ROOM, width - 1 - BAND_ROOM];
  const nodes: PictureNode[] = [];
  const boxes: PictureBox[] = [];
  let y = 1;
  for (const [stratum, members] of bandsIn(relations)) {
    const top = y;
    y += TITLE_HEIGHT + BAND_ROOM;
    let x = left;
    for (const relation of members) {
      const needed = Math.min(widthOf(relation), right - left);
      if (x > left && x + needed > right) {
        x = left;
        y += NODE_HEIGHT + APART;
      }
      nodes.push({ relation, label: shortened(relation.name), x, y, width: needed, height: NODE_HEIGHT });
      x += needed + APART;
    }
    y += NODE_HEIGHT + BAND_ROOM;
    boxes.push({ stratum, x: 1, y: top, width: width - 2, height: y - top });
    y += APART;
  }
  const places = new Map(nodes.map((node) => [node.relation.name, node]));
  const edges = readings.flatMap((reading): PictureEdge[] => {
    const [from, to] = [places.get(reading.reads), places.get(reading.relation)];
    if (from === undefined || to === undefined) return [];
    const label = howText(reading.hows);
    if (isLoop(reading)) {
      const { path, beside } = loopAt(to, APART);
      return [{ reading, path, label, at: beside }];
    }
    return [{ reading, label, ...lineOf(from, to) }];
  });
  return { width, height: Math.max(0, y - APART + 1), nodes, edges, boxes, reads: "rows" };
}

/** The bands in their order, each with its relations by name. */
function bandsIn(relations: readonly PictureRelation[]): [number | undefined, PictureRelation[]][] {
  const bands = new Map<number | undefined, PictureRelation[]>();
  for (const relation of relations) {
    const band = bands.get(relation.stratum);
    if (band === undefined) bands.set(relation.stratum, [relation]);
    else band.push(relation);
  }
  for (const band of bands.values()) band.sort((one, other) => (one.name < other.name ? -1 : 1));
  return [...bands].sort(([one = -1], [other = -1]) => one - other);
}

/** A line that leaves and arrives above or below, where the other one is; above, where both stand side by side. */
function lineOf(from: Place, to: Place): { path: string; at: Point } {
  const end = ({ x, y, width, height }: Place, isBelow: boolean) => ({
    x: x + width / 2,
    y: isBelow ? y + height : y,
  });
  const start = end(from, from.y < to.y);
  const target = end(to, to.y < from.y);
  const at = { x: (start.x + target.x) / 2, y: (start.y + target.y) / 2 };
  return { path: pathDown(start, target), at };
}
