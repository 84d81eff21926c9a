// Through which the plane is seen: the camera, how large the screen is, and whether somebody has moved it.

import {
  type Bounds,
  boundsOf,
  type Camera,
  fitted,
  moved,
  type Point,
  type Size,
  toPlane,
  toScreen,
  zoomed,
} from "./camera.ts";
import type { Places } from "./layout.ts";

const MARGIN = 48;
/** Small graphs are not made larger than this. */
const CLOSEST = 10;

export class Lens {
  camera: Camera = { x: 0, y: 0, scale: 1 };
  size: Size = { width: 1, height: 1 };
  /** Whether somebody looks at a part: then it does not move by itself any more. */
  isMoved = false;
  /** The scale at which all is seen. */
  #whole = 1;

  /** Sees all of it, unless somebody looks at a part. */
  follow(places: Places): void {
    const bounds: Bounds = boundsOf(places.xs, places.ys);
    const camera = fitted(bounds, this.size, MARGIN, CLOSEST);
    this.#whole = camera.scale;
    if (!this.isMoved) this.camera = camera;
  }

  zoom(factor: number, at: Point = { x: this.size.width / 2, y: this.size.height / 2 }): void {
    this.camera = zoomed(this.camera, this.size, at, factor);
    this.isMoved = true;
  }

  move(by: Point): void {
    this.camera = moved(this.camera, by);
    this.isMoved = true;
  }

  /** Brings a place of the plane into the middle, unless it can be seen; whether it had to. */
  reveal(place: Point): boolean {
    const { x, y } = toScreen(this.camera, this.size, place);
    const { width, height } = this.size;
    if (x > MARGIN && y > MARGIN && x < width - MARGIN && y < height - MARGIN) return false;
    this.camera = { ...this.camera, ...place };
    this.isMoved = true;
    return true;
  }

  toPlane(at: Point): Point {
    return toPlane(this.camera, this.size, at);
  }

  /** By how much nodes are larger than where all is seen: they grow slower than what is between them. */
  get grow(): number {
    return Math.max(0.5, Math.min(4, Math.sqrt(this.camera.scale / this.#whole)));
  }

  /** The node that is nearest to a place of the screen, if one is no further from its edge than `reach`. */
  nodeAt({ xs, ys }: Places, radii: Float32Array, at: Point, reach: number): number | undefined {
    const { x, y } = this.toPlane(at);
    const { grow } = this;
    let found: number | undefined;
    let nearest = Number.POSITIVE_INFINITY;
    for (let node = 0; node < xs.length; node += 1) {
      const distance = Math.hypot((xs[node] ?? 0) - x, (ys[node] ?? 0) - y) * this.camera.scale;
      const beyond = distance - (radii[node] ?? 0) * grow;
      if (beyond > reach || beyond >= nearest) continue;
      nearest = beyond;
      found = node;
    }
    return found;
  }
}
