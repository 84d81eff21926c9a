// Which part of the plane is seen: what stands in the middle, and how many pixels a unit is.

export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Bounds {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const LEAST = 1e-4;
const MOST = 1e3;

/** Where a place of the plane is on the screen. */
export function toScreen(camera: Camera, size: Size, { x, y }: Point): Point {
  return {
    x: (x - camera.x) * camera.scale + size.width / 2,
    y: (y - camera.y) * camera.scale + size.height / 2,
  };
}

/** Which place of the plane is there on the screen. */
export function toPlane(camera: Camera, size: Size, { x, y }: Point): Point {
  return {
    x: (x - size.width / 2) / camera.scale + camera.x,
    y: (y - size.height / 2) / camera.scale + camera.y,
  };
}

/** Comes closer by a factor; what is at a place of the screen stays there. */
export function zoomed(camera: Camera, size: Size, at: Point, factor: number): Camera {
  const scale = Math.min(MOST, Math.max(LEAST, camera.scale * factor));
  const fixed = toPlane(camera, size, at);
  return {
    x: fixed.x - (at.x - size.width / 2) / scale,
    y: fixed.y - (at.y - size.height / 2) / scale,
    scale,
  };
}

/** Goes along with a movement on the screen. */
export function moved(camera: Camera, by: Point): Camera {
  return { ...camera, x: camera.x - by.x / camera.scale, y: camera.y - by.y / camera.scale };
}

/** Sees all of it, with some room at the edges; comes no closer than `closest`. */
export function fitted(bounds: Bounds, size: Size, room: number, closest: number): Camera {
  const width = Math.max(bounds.right - bounds.left, 1e-6);
  const height = Math.max(bounds.bottom - bounds.top, 1e-6);
  const across = Math.max(1, size.width - 2 * room) / width;
  const down = Math.max(1, size.height - 2 * room) / height;
  return {
    x: (bounds.left + bounds.right) / 2,
    y: (bounds.top + bounds.bottom) / 2,
    scale: Math.max(LEAST, Math.min(across, down, closest)),
  };
}

/** What surrounds all places; a little around the middle where there are none. */
export function boundsOf(xs: Float32Array, ys: Float32Array): Bounds {
  if (xs.length === 0) return { left: -1, top: -1, right: 1, bottom: 1 };
  let left = Number.POSITIVE_INFINITY;
  let top = Number.POSITIVE_INFINITY;
  let right = Number.NEGATIVE_INFINITY;
  let bottom = Number.NEGATIVE_INFINITY;
  for (let node = 0; node < xs.length; node += 1) {
    const x = xs[node] ?? 0;
    const y = ys[node] ?? 0;
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return { left, top, right, bottom };
}
