// What came of something that was done: what the server said, or why it was not done.

import { seen } from "./Cell.tsx";
import { Failure } from "./Failure.tsx";
import type { Action } from "./useAction.ts";

export function Said({ action: { problem, said } }: { action: Action }) {
  if (problem !== undefined) return <Failure problem={problem} />;
  return (
    <div class="said" role="status">
      {said.map((text, number) => (
        <p key={number}>{seen(text)}</p>
      ))}
    </div>
  );
}
