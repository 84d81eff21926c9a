// Lines and their heads, many of them in one path.

import type { Size } from "./camera.ts";
import type { Line } from "./network.ts";

/** Where nodes are on the screen, and how large. */
export interface Projection {
  readonly xs: Float32Array;
  readonly ys: Float32Array;
  readonly size: Size;
  readonly ratio: number;
  readonly radiusOf: (node: number) => number;
}

export interface Stroke {
  readonly colour: string;
  readonly alpha: number;
  /** In pixels of the page; 0 is one pixel of the screen, which is drawn the fastest. */
  readonly width: number;
}

/** So many lines are one path. */
const TOGETHER = 400;
const HEAD = 7;
/** Half of the width of a head, for each pixel of its length. */
const SLENDER = 0.38;

/** Draws lines; one that begins where it ends is a ring above its node. */
export function drawLines(
  context: CanvasRenderingContext2D,
  { xs, ys, size, ratio, radiusOf }: Projection,
  lines: readonly Line[],
  { colour, alpha, width }: Stroke,
): void {
  context.strokeStyle = colour;
  context.globalAlpha = alpha;
  context.lineWidth = Math.max(width, 1 / ratio);
  context.beginPath();
  let open = 0;
  for (const { from, to } of lines) {
    const x1 = xs[from] ?? 0;
    const y1 = ys[from] ?? 0;
    const x2 = xs[to] ?? 0;
    const y2 = ys[to] ?? 0;
    if (isBeside(x1, x2, size.width) || isBeside(y1, y2, size.height)) continue;
    if (from === to) {
      const radius = radiusOf(from) + 3;
      context.moveTo(x1 + radius, y1 - radius);
      context.arc(x1, y1 - radius, radius, 0, 2 * Math.PI);
    } else {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    open += 1;
    if (open < TOGETHER) continue;
    context.stroke();
    context.beginPath();
    open = 0;
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** Draws the heads of lines that are long enough to have one. */
export function drawHeads(
  context: CanvasRenderingContext2D,
  { xs, ys, size, radiusOf }: Projection,
  lines: readonly Line[],
  { colour, alpha }: Stroke,
): void {
  context.fillStyle = colour;
  context.globalAlpha = alpha;
  context.beginPath();
  let open = 0;
  for (const { from, to } of lines) {
    const x = xs[to] ?? 0;
    const y = ys[to] ?? 0;
    if (x < 0 || y < 0 || x > size.width || y > size.height) continue;
    const across = x - (xs[from] ?? 0);
    const down = y - (ys[from] ?? 0);
    const length = Math.hypot(across, down);
    const radius = radiusOf(to) + 1;
    if (length < radius + HEAD * 2) continue;
    const ux = across / length;
    const uy = down / length;
    const tipX = x - ux * radius;
    const tipY = y - uy * radius;
    const endX = tipX - ux * HEAD;
    const endY = tipY - uy * HEAD;
    context.moveTo(tipX, tipY);
    context.lineTo(endX - uy * HEAD * SLENDER, endY + ux * HEAD * SLENDER);
    context.lineTo(endX + uy * HEAD * SLENDER, endY - ux * HEAD * SLENDER);
    open += 1;
    if (open < TOGETHER) continue;
    context.fill();
    context.beginPath();
    open = 0;
  }
  context.fill();
  context.globalAlpha = 1;
}

/** Whether a line lies on one side of the screen. */
function isBeside(a: number, b: number, most: number): boolean {
  return (a < 0 && b < 0) || (a > most && b > most);
}
