// The list of frames, newest first. What one holds is written when somebody unfolds it.

import { useState } from "preact/hooks";
import { count } from "../src/parts/text.ts";
import { type Frame, type Frames, shown } from "./frames.ts";
import { Text } from "./Text.tsx";

export function FramesView({ frames, secrets }: { frames: Frames; secrets: ReadonlySet<string> }) {
  const list = frames.list.value;
  return (
    <section class="panel" id="frames-panel" aria-labelledby="frames-title">
      <div class="title">
        <h2 id="frames-title">Frames</h2>
        <button type="button" id="clear" onClick={() => frames.clear()}>
          Clear
        </button>
      </div>
      <ol id="frames" aria-label="Frames, newest first">
        {list.map((frame) => (
          <Line key={frame.number} frame={frame} secrets={secrets} />
        ))}
      </ol>
      {list.length === 0 && <p class="quiet">What goes out and comes in appears here, newest first.</p>}
    </section>
  );
}

function Line({ frame, secrets }: { frame: Frame; secrets: ReadonlySet<string> }) {
  const { direction, data, type, bytes, time } = frame;
  const [isOpen, setOpen] = useState(false);
  const isOut = direction === "out";
  return (
    <li class={direction} data-type={type}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="arrow" role="img" aria-label={isOut ? "sent" : "received"}>
            {isOut ? "→" : "←"}
          </span>
          <time>{time}</time>
          <b>{type}</b>
          <span class="quiet">{count(bytes)} bytes</span>
        </summary>
        {isOpen && <Text text={shown(data, secrets)} />}
      </details>
    </li>
  );
}
