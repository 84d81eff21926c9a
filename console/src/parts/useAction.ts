// Something that is done when somebody wants it, and what came of it.

import type { Result } from "@stratalog/client";
import { useState } from "preact/hooks";

export interface Action {
  readonly isBusy: boolean;
  /** Why it was not done. */
  readonly problem: unknown;
  /** What the server had to say, with what deserves a second look. */
  readonly said: readonly string[];
  /** Does it; what the server answered, if it was done. */
  readonly run: (work: () => Promise<Result>) => Promise<Result | undefined>;
}

interface Outcome {
  readonly isBusy: boolean;
  readonly problem?: unknown;
  readonly said?: readonly string[];
}

export function useAction(): Action {
  const [{ isBusy, problem, said = [] }, setOutcome] = useState<Outcome>({ isBusy: false });
  const run = async (work: () => Promise<Result>) => {
    setOutcome({ isBusy: true });
    try {
      const result = await work();
      setOutcome({ isBusy: false, said: [...result.messages, ...result.warnings] });
      return result;
    } catch (failure) {
      setOutcome({ isBusy: false, problem: failure });
      return undefined;
    }
  };
  return { isBusy, problem, said, run };
}
