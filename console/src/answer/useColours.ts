// The colours of the page for what is drawn, where a style cannot name them. They follow the page between light and dark.

import { useEffect, useState } from "preact/hooks";

/** What the variables of theme.css are at the moment. */
export interface Colours {
  readonly panel: string;
  readonly line: string;
  readonly text: string;
  readonly quiet: string;
  readonly accent: string;
  readonly bad: string;
  readonly good: string;
  readonly warn: string;
  readonly variable: string;
  /** The family of the page's type. */
  readonly font: string;
}

export function useColours(): Colours {
  const [colours, setColours] = useState(readColours);
  useEffect(() => {
    const isDark = matchMedia("(prefers-color-scheme: dark)");
    const again = () => setColours(readColours());
    isDark.addEventListener("change", again);
    return () => isDark.removeEventListener("change", again);
  }, []);
  return colours;
}

function readColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    panel: colour("panel"),
    line: colour("line"),
    text: colour("text"),
    quiet: colour("quiet"),
    accent: colour("accent"),
    bad: colour("bad"),
    good: colour("good"),
    warn: colour("warn"),
    variable: colour("variable"),
    font: getComputedStyle(document.body).fontFamily,
  };
}
