// What fingers and mice do with the picture: drag a node, move the plane, come closer, choose a node.

import type { Point } from "./camera.ts";

/** What is told of it. Places are pixels from the upper left corner of the picture. */
export interface Touched {
  nodeAt(at: Point, isFinger: boolean): number | undefined;
  onHover(node: number | undefined): void;
  onDrag(node: number, to: Point): void;
  onDrop(node: number): void;
  onMove(by: Point): void;
  onZoom(at: Point, factor: number): void;
  /** Chosen, by a click beside all nodes none. */
  onChoose(node: number | undefined): void;
  onTwice(node: number): void;
}

/** Whoever moves less did not mean to. */
const STEADY = 4;
/** Two clicks within this are one double click. */
const TWICE_MILLISECONDS = 400;

interface Held {
  at: Point;
  readonly start: Point;
}

/** Listens to an element until it is told to stop. */
export function listen(element: HTMLElement, touched: Touched): () => void {
  const held = new Map<number, Held>();
  const stop = new AbortController();
  let grabbed: number | undefined;
  let hasMoved = false;
  let hasGrabbed = false;
  let last = { node: undefined as number | undefined, time: 0 };

  const place = (event: PointerEvent | WheelEvent): Point => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const at = place(event);
    held.set(event.pointerId, { at, start: at });
    element.setPointerCapture(event.pointerId);
    if (held.size === 1) {
      hasMoved = false;
      hasGrabbed = false;
      grabbed = touched.nodeAt(at, event.pointerType === "touch");
    } else {
      // A second finger: they move the plane together.
      hasMoved = true;
      letGo();
    }
  };

  const letGo = () => {
    if (grabbed !== undefined && hasGrabbed) touched.onDrop(grabbed);
    grabbed = undefined;
  };

  const move = (event: PointerEvent) => {
    const now = place(event);
    const pointer = held.get(event.pointerId);
    if (pointer === undefined) {
      if (event.pointerType !== "touch") touched.onHover(touched.nodeAt(now, false));
      return;
    }
    const before = pointer.at;
    if (!hasMoved && Math.hypot(now.x - pointer.start.x, now.y - pointer.start.y) < STEADY) return;
    hasMoved = true;
    pointer.at = now;
    if (held.size > 1) pinch(pointer, before);
    else if (grabbed === undefined) touched.onMove({ x: now.x - before.x, y: now.y - before.y });
    else {
      hasGrabbed = true;
      touched.onDrag(grabbed, now);
    }
  };

  /** Of two fingers each is the other's fixed place. */
  const pinch = (pointer: Held, before: Point) => {
    const other = [...held.values()].find((each) => each !== pointer);
    if (other === undefined) return;
    const was = Math.hypot(before.x - other.at.x, before.y - other.at.y);
    const is = Math.hypot(pointer.at.x - other.at.x, pointer.at.y - other.at.y);
    touched.onMove({ x: (pointer.at.x - before.x) / 2, y: (pointer.at.y - before.y) / 2 });
    const middle = { x: (pointer.at.x + other.at.x) / 2, y: (pointer.at.y + other.at.y) / 2 };
    if (was > 0 && is > 0) touched.onZoom(middle, is / was);
  };

  const up = (event: PointerEvent) => {
    if (!held.delete(event.pointerId)) return;
    const node = grabbed;
    if (held.size > 0) return;
    letGo();
    if (hasMoved || event.type === "pointercancel") return;
    const isTwice =
      node !== undefined && node === last.node && event.timeStamp - last.time < TWICE_MILLISECONDS;
    last = { node: isTwice ? undefined : node, time: event.timeStamp };
    if (isTwice) touched.onTwice(node);
    else touched.onChoose(node);
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    // Lines or pages are turned into pixels; a pinch on a touchpad is a wheel with the control key.
    const pixels = event.deltaY * ([1, 16, 400][event.deltaMode] ?? 1);
    const factor = Math.exp(-Math.max(-240, Math.min(240, pixels)) * (event.ctrlKey ? 0.01 : 0.0018));
    touched.onZoom(place(event), factor);
  };

  const { signal } = stop;
  element.addEventListener("pointerdown", down, { signal });
  element.addEventListener("pointermove", move, { signal });
  element.addEventListener("pointerup", up, { signal });
  element.addEventListener("pointercancel", up, { signal });
  element.addEventListener("pointerleave", () => touched.onHover(undefined), { signal });
  element.addEventListener("wheel", wheel, { signal, passive: false });
  return () => stop.abort();
}
