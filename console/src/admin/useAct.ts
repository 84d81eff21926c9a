// Something that somebody does here, and what came of it.

import type { Result } from "@stratalog/client";
import { useState } from "preact/hooks";

export interface Act {
  readonly isBusy: boolean;
  /** Why it was not done. */
  readonly problem: unknown;
  /** What the server had to say. */
  readonly said: string;
  /** Does it; what the server answered, if it was done. */
  readonly run: (work: () => Promise<Result>) => Promise<Result | undefined>;
}

export function useAct(): Act {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [said, setSaid] = useState("");
  const run = async (work: () => Promise<Result>) => {
    setBusy(true);
    setProblem(undefined);
    setSaid("");
    try {
      const result = await work();
      setSaid(result.messages.join("; "));
      return result;
    } catch (failure) {
      setProblem(failure);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, said, run };
}
