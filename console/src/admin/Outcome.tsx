// What came of something that was done.

import { seen } from "../parts/Cell.tsx";
import { Failure } from "../parts/Failure.tsx";
import type { Act } from "./useAct.ts";

export function Outcome({ act: { problem, said } }: { act: Act }) {
  return (
    <>
      {problem !== undefined && <Failure problem={problem} />}
      <p class="outcome good" role="status">
        {seen(said)}
      </p>
    </>
  );
}
