// How a watched query is, in words and with a sign.

import type { Watch } from "./Watch.ts";

export function WatchStatus({ watch }: { watch: Watch }) {
  const [kind, text] = statusOf(watch);
  return (
    <span class="watch-status" data-kind={kind}>
      {text}
    </span>
  );
}

function statusOf({ state, link, isPaused }: Watch): [kind: string, text: string] {
  if (state.value === "opening") return ["waits", "opening"];
  if (state.value === "ended") return ["ended", "ended"];
  if (link.value === "lost") return ["waits", "lost, trying again"];
  if (isPaused.value) return ["paused", "paused"];
  return link.value === "again" ? ["open", "open again"] : ["open", "live"];
}
