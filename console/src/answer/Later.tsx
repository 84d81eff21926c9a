// A component that is loaded when it is first shown, with a library of its own.

import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "../parts/Failure.tsx";

type LaterProps<P> = P & { load: () => Promise<ComponentType<P>> };

export function Later<P extends object>({ load, ...props }: LaterProps<P>): JSX.Element {
  const [loaded, setLoaded] = useState<{ Shown: ComponentType<P> }>();
  const [problem, setProblem] = useState<unknown>();
  useEffect(() => {
    load().then((Shown) => setLoaded({ Shown }), setProblem);
  }, [load]);
  if (problem !== undefined) return <Failure problem={problem} />;
  if (loaded === undefined) return <p class="waiting quiet">…</p>;
  return <loaded.Shown {...(props as unknown as P)} />;
}
