// Ways to see the same, each an address of its own.

import { useEffect, useRef } from "preact/hooks";

interface TabsProps {
  label: string;
  tabs: readonly { name: string; title: string; href: string }[];
  current: string;
}

export function Tabs({ label, tabs, current }: TabsProps) {
  const frame = useRef<HTMLElement>(null);
  const isThere = tabs.some(({ name }) => name === current);
  // Where not all have room, the current one is seen.
  useEffect(() => {
    const place = frame.current?.querySelector("[aria-current]");
    place?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current, isThere]);
  return (
    <nav ref={frame} class="tabs" aria-label={label}>
      {tabs.map(({ name, title, href }) => (
        <a key={name} href={href} aria-current={name === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
