// Draws the picture on a canvas.
//
// Five thousand lines have to be drawn thirty times a second, also without a graphics card: lines are thin and go together
// in paths, and a node is a stamp that was drawn once. What stays where it is is kept as one image: while one points at
// nodes, or drags one, only that image is put there, a veil over it, and what is to be seen before all else.

import type { Colours } from "../useColours.ts";
import type { Camera, Size } from "./camera.ts";
import { mostNames, Rooms } from "./labels.ts";
import type { Places } from "./layout.ts";
import { type Line, labelOf, type Network, neighboursOf } from "./network.ts";
import { Stamps } from "./stamps.ts";
import { drawHeads, drawLines, type Projection } from "./strokes.ts";

/** What there is to draw. */
export interface Scene {
  readonly network: Network;
  readonly places: Places;
  /** The nodes, the most important ones first, and their radii. */
  readonly order: Uint32Array;
  readonly radii: Float32Array;
  readonly camera: Camera;
  readonly size: Size;
  /** Pixels of the screen for one of the page. */
  readonly ratio: number;
  /** By how much nodes are larger than where all is seen. */
  readonly grow: number;
  /** Another number wherever anything of this is different, but for the camera and the focus. */
  readonly version: number;
  /** The node whose neighbours are shown. */
  readonly focus: number | undefined;
  readonly chosen: number | undefined;
  /** Whether the neighbours of a node have been asked for. */
  readonly isGrown: (node: number) => boolean;
  /** Whether the picture moves, and details would come too late. */
  readonly isQuick: boolean;
}

type Context = CanvasRenderingContext2D;

/** An image that was drawn, and of what. */
interface Kept {
  readonly canvas: HTMLCanvasElement;
  readonly camera: Camera;
  readonly version: number;
  readonly without: number | undefined;
}

/** More lines are faint, and have no heads. */
const MANY = 1_500;
/** More lines are thin also where they are to be seen. */
const CROWD = 500;
/** Labels of lines that are written at most, and only where there are no more lines than this to be seen. */
const MOST_LABELS = 120;
const FEW = 400;
/** How much of what is not beside the focus is covered. */
const VEIL = 0.8;
const TYPE = 12;

export class Painter {
  readonly #colours: Colours;
  readonly #stamps: Stamps;
  readonly #widths = new Map<string, number>();
  #xs = new Float32Array(0);
  #ys = new Float32Array(0);
  #kept: Kept | undefined;

  constructor(colours: Colours) {
    this.#colours = colours;
    this.#stamps = new Stamps(colours);
  }

  /** Draws all of it. Nothing but `dragged` has moved for as long as that is the same. */
  paint(context: Context, scene: Scene, dragged?: number): void {
    const projection = this.#project(scene);
    if (scene.isQuick && dragged === undefined) {
      this.#begin(context, scene);
      this.#all(context, scene, projection, undefined);
    } else {
      const image = this.#image(context.canvas, scene, projection, dragged);
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.globalAlpha = 1;
      if (image !== undefined) context.drawImage(image, 0, 0);
    }
    const focus = dragged ?? scene.focus;
    if (focus !== undefined) this.#bright(context, scene, projection, focus);
  }

  /** All but a node and its lines as an image. */
  #image(
    { width, height }: HTMLCanvasElement,
    scene: Scene,
    projection: Projection,
    without: number | undefined,
  ) {
    const { camera, version } = scene;
    const kept = this.#kept;
    const isSame = kept?.camera === camera && kept.canvas.width === width && kept.canvas.height === height;
    if (isSame && kept.without === without && (without !== undefined || kept.version === version))
      return kept.canvas;
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d", { alpha: false });
    if (context === null) return undefined;
    this.#begin(context, scene);
    this.#all(context, scene, projection, without);
    this.#kept = { canvas, camera, version, without };
    return canvas;
  }

  /** Everything but one node and its lines. */
  #all(context: Context, scene: Scene, projection: Projection, without: number | undefined): void {
    const { network, order, isQuick } = scene;
    const isOf = ({ from, to }: Line) => from === without || to === without;
    const lines = without === undefined ? network.lines : network.lines.filter((line) => !isOf(line));
    // What can be told of a line shows where there are not too many.
    const shown = lines.length > MANY && isQuick ? [] : lines.filter((line) => isSeen(line, projection));
    const isCrowd = lines.length > MANY && (isQuick || shown.length > MANY);
    const stroke = { colour: this.#colours.quiet, alpha: isCrowd ? 0.3 : 0.55, width: isQuick ? 0 : 0.9 };
    drawLines(context, projection, lines, stroke);
    if (!isCrowd) drawHeads(context, projection, shown, { ...stroke, alpha: 0.8 });
    for (let place = order.length - 1; place >= 0; place -= 1) {
      const node = order[place] ?? 0;
      if (node !== without) this.#node(context, scene, projection, node);
    }
    const rooms = new Rooms(scene.size);
    this.#names(context, scene, projection, rooms, order, without);
    if (!isQuick && shown.length <= FEW) this.#labels(context, projection, rooms, shown);
  }

  /** A veil over all, and a node with its neighbours before it. */
  #bright(context: Context, scene: Scene, projection: Projection, focus: number): void {
    const { network, size } = scene;
    this.#begin(context, scene, VEIL);
    const lines = (network.linesOf[focus] ?? []).flatMap((place) => network.lines[place] ?? []);
    const stroke = { colour: this.#colours.accent, alpha: 1, width: lines.length > CROWD ? 0 : 1.5 };
    drawLines(context, projection, lines, stroke);
    drawHeads(context, projection, lines, stroke);
    const near = neighboursOf(network, focus);
    for (const node of near) this.#node(context, scene, projection, node);
    this.#node(context, scene, projection, focus);
    const rooms = new Rooms(size);
    this.#names(context, scene, projection, rooms, [focus, ...near]);
    if (!scene.isQuick) this.#labels(context, projection, rooms, lines);
  }

  /** Where the nodes are on the screen. */
  #project({ places, camera, size, ratio, radii, grow }: Scene): Projection {
    const count = places.xs.length;
    if (this.#xs.length !== count) {
      this.#xs = new Float32Array(count);
      this.#ys = new Float32Array(count);
    }
    for (let node = 0; node < count; node += 1) {
      this.#xs[node] = ((places.xs[node] ?? 0) - camera.x) * camera.scale + size.width / 2;
      this.#ys[node] = ((places.ys[node] ?? 0) - camera.y) * camera.scale + size.height / 2;
    }
    const radiusOf = (node: number) => Math.max(1.5, Math.round((radii[node] ?? 3) * grow * 2) / 2);
    return { xs: this.#xs, ys: this.#ys, size, ratio, radiusOf };
  }

  /** Covers what was there before, all of it or in part. */
  #begin(context: Context, { size, ratio }: Scene, cover = 1): void {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.globalAlpha = cover;
    context.fillStyle = this.#colours.panel;
    context.fillRect(0, 0, size.width, size.height);
    context.globalAlpha = 1;
    context.font = `${TYPE}px ${this.#colours.font}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
  }

  #node(context: Context, scene: Scene, { xs, ys, size, ratio, radiusOf }: Projection, node: number): void {
    const x = xs[node] ?? 0;
    const y = ys[node] ?? 0;
    if (x < -40 || y < -40 || x > size.width + 40 || y > size.height + 40) return;
    const look = node === scene.chosen ? "chosen" : scene.isGrown(node) ? "grown" : "plain";
    const stamp = this.#stamps.of(radiusOf(node), look, ratio);
    const side = stamp.width / ratio;
    // On whole pixels of the screen: nothing has to be computed anew, and edges stay sharp.
    const on = (pixels: number) => Math.round((pixels - side / 2) * ratio) / ratio;
    context.drawImage(stamp, on(x), on(y), side, side);
  }

  /** The names of nodes, in their order, as far as there is room. */
  #names(
    context: Context,
    { network }: Scene,
    { xs, ys, size, radiusOf }: Projection,
    rooms: Rooms,
    nodes: Iterable<number>,
    without?: number,
  ): void {
    let left = mostNames(size, network.nodes.length);
    for (const node of nodes) {
      if (left === 0) break;
      if (node === without) continue;
      const x = (xs[node] ?? 0) + radiusOf(node) + 3;
      const y = ys[node] ?? 0;
      if (x > size.width || x < -400 || y < 0 || y > size.height) continue;
      const name = network.nodes[node]?.name ?? "";
      if (this.#write(context, rooms, name, x, y, this.#colours.text)) left -= 1;
    }
  }

  /** What lines say, where they are long enough for it. */
  #labels(context: Context, { xs, ys, size }: Projection, rooms: Rooms, lines: readonly Line[]): void {
    let left = MOST_LABELS;
    for (const line of lines) {
      if (left === 0) break;
      if (line.labels.length === 0 || line.from === line.to) continue;
      const x1 = xs[line.from] ?? 0;
      const y1 = ys[line.from] ?? 0;
      const across = (xs[line.to] ?? 0) - x1;
      const down = (ys[line.to] ?? 0) - y1;
      const length = Math.hypot(across, down);
      const x = x1 + across * 0.45;
      const y = y1 + down * 0.45;
      if (length < 50 || x < 0 || y < 0 || x > size.width || y > size.height) continue;
      const label = labelOf(line);
      const width = this.#width(context, label);
      if (width > length - 30) continue;
      if (this.#write(context, rooms, label, x - width / 2, y, this.#colours.quiet)) left -= 1;
    }
  }

  /** Writes a text if there is room for it. */
  #write(context: Context, rooms: Rooms, text: string, x: number, y: number, colour: string): boolean {
    const width = this.#width(context, text);
    if (!rooms.take({ left: x, top: y - TYPE / 2, width, height: TYPE })) return false;
    context.globalAlpha = 0.72;
    context.fillStyle = this.#colours.panel;
    context.fillRect(x - 1, y - TYPE / 2 - 1, width + 2, TYPE + 2);
    context.globalAlpha = 1;
    context.fillStyle = colour;
    context.fillText(text, x, y);
    return true;
  }

  #width(context: Context, text: string): number {
    const known = this.#widths.get(text);
    if (known !== undefined) return known;
    const { width } = context.measureText(text);
    this.#widths.set(text, width);
    return width;
  }
}

/** Whether one of its ends is on the screen. */
function isSeen({ from, to }: Line, { xs, ys, size }: Projection): boolean {
  return isOn(xs[from], ys[from], size) || isOn(xs[to], ys[to], size);
}

function isOn(x = 0, y = 0, { width, height }: Size): boolean {
  return x >= 0 && y >= 0 && x <= width && y <= height;
}
