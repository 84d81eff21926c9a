// Room in which something large is looked at: it can be scrolled, dragged, and made larger and smaller, with
// the keyboard too.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface PictureFrameProps {
  label: string;
  /** How large it is. */
  width: number;
  height: number;
  /** What is to have room at first, as long as it can be read then. */
  fits: "all" | "width";
  /** Which of its points is to be seen at first, if there is no room for all. */
  start: { readonly x: number; readonly y: number };
  /** What is said below it. */
  legend: ComponentChildren;
  children: (scale: number) => ComponentChildren;
}

const LEAST = 0.15;
const MOST = 3;
/** Smaller, texts cannot be read: there is to be scrolled instead. */
const READABLE = 0.85;
/** This part of the window's height is the most that it takes; the style sheet has the same. */
const HIGHEST = 0.62;

export function PictureFrame(props: PictureFrameProps) {
  const { label, width, height, fits, start, legend, children } = props;
  const frame = useRef<HTMLElement>(null);
  const [scale, setScale] = useState(1);
  /** Which point of the picture is to stand where in the frame; before there is one, the first in the middle. */
  const anchor = useRef<{ x: number; y: number; left: number; top: number }>(undefined);

  const zoom = (to: number, left?: number, top?: number) => {
    const element = frame.current;
    if (element === null) return;
    const next = Math.max(LEAST, Math.min(MOST, to));
    const [atX, atY] = [left ?? element.clientWidth / 2, top ?? element.clientHeight / 2];
    const [x, y] = [(element.scrollLeft + atX) / scale, (element.scrollTop + atY) / scale];
    anchor.current = { x, y, left: atX, top: atY };
    setScale(next);
  };
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const middle = { left: element.clientWidth / 2, top: element.clientHeight / 2 };
    const { x, y, left, top } = anchor.current ?? { ...start, ...middle };
    element.scrollTo(x * scale - left, y * scale - top);
  }, [scale]);

  const fitting = (what: "all" | "width") => {
    const element = frame.current;
    if (element === null || width === 0 || height === 0) return 1;
    const inHeight = what === "all" ? (innerHeight * HIGHEST) / height : 1;
    return Math.min(1, element.clientWidth / width, inHeight);
  };
  // Later sizes are of the same picture with other numbers in it: they change nothing of what somebody has
  // chosen.
  useLayoutEffect(() => setScale(Math.max(READABLE, fitting(fits))), []);

  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = { "+": scale * 1.25, "=": scale * 1.25, "-": scale / 1.25, "0": 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    zoom(next);
  };
  const onWheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const edges = (event.currentTarget as HTMLElement).getBoundingClientRect();
    zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - edges.left, event.clientY - edges.top);
  };
  const onPointerDown = (event: PointerEvent) => {
    const element = event.currentTarget as HTMLElement;
    const isOnLink = (event.target as Element).closest("a") !== null;
    if (event.pointerType !== "mouse" || event.button !== 0 || isOnLink) return;
    const start = { x: element.scrollLeft + event.clientX, y: element.scrollTop + event.clientY };
    element.setPointerCapture(event.pointerId);
    element.onpointermove = (moved) => element.scrollTo(start.x - moved.clientX, start.y - moved.clientY);
    element.onpointerup = element.onpointercancel = () => {
      element.onpointermove = null;
    };
  };
  return (
    <div class="picture-room">
      <section
        ref={frame}
        class="picture-frame"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled can be scrolled with the keyboard
        tabIndex={0}
        onKeyDown={onKey}
        onWheel={onWheel}
        onPointerDown={onPointerDown}
      >
        {children(scale)}
      </section>
      <div class="picture-foot">
        {legend}
        <p class="picture-zoom">
          <button type="button" aria-label="Smaller" onClick={() => zoom(scale / 1.25)}>
            −
          </button>
          <button
            type="button"
            aria-label={`${Math.round(scale * 100)} %, back to 100 %`}
            onClick={() => zoom(1)}
          >
            {Math.round(scale * 100)} %
          </button>
          <button type="button" aria-label="Larger" onClick={() => zoom(scale * 1.25)}>
            +
          </button>
          <button type="button" onClick={() => zoom(fitting("all"))}>
            All
          </button>
        </p>
      </div>
    </div>
  );
}
