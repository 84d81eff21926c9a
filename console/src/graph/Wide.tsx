// Room for a table that may be wider than the page. Only where it is, the keyboard can go there to scroll it.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface WideProps {
  /** What is in it. */
  label: string;
  children: ComponentChildren;
}

export function Wide({ label, children }: WideProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const look = () => setWide(element.scrollWidth > element.clientWidth);
    const watch = new ResizeObserver(look);
    watch.observe(element);
    if (element.firstElementChild !== null) watch.observe(element.firstElementChild);
    return () => watch.disconnect();
  }, []);
  return (
    <div ref={frame} class="wide" {...(isWide ? { role: "region", "aria-label": label, tabIndex: 0 } : {})}>
      {children}
    </div>
  );
}
