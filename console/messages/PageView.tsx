// The page: connect, log in, choose a message, send it, and see what comes back.

import { useLayoutEffect, useRef } from "preact/hooks";
import { AnswerView } from "./AnswerView.tsx";
import { ConnectPanel } from "./ConnectPanel.tsx";
import { FramesView } from "./FramesView.tsx";
import { LiveView } from "./LiveView.tsx";
import { MessagePanel } from "./MessagePanel.tsx";
import type { Page } from "./page.ts";

export function PageView({ page }: { page: Page }) {
  return (
    <>
      <header class="top">
        <h1 class="mark">
          Stratalog <small>WebSocket protocol {page.protocol.version}</small>
        </h1>
        <p id="state" class="state" role="status" data-state={page.state.value}>
          {page.words.value}
        </p>
      </header>
      <main>
        <div class="column">
          <ConnectPanel page={page} />
          <MessagePanel page={page} />
        </div>
        <div class="column results">
          <AnswerPanel page={page} />
          <LiveView queries={page.live} onUnsubscribe={(subscription) => page.unsubscribe(subscription)} />
          <FramesView frames={page.frames} secrets={page.protocol.secrets} />
        </div>
      </main>
      <footer class="quiet">
        Made from <code>/api/asyncapi.yaml</code>. Nothing is stored, and nothing leaves for another host.
      </footer>
    </>
  );
}

function AnswerPanel({ page }: { page: Page }) {
  const panel = useRef<HTMLElement>(null);
  const looks = page.looks.value;
  useLayoutEffect(() => {
    if (looks > 0 && panel.current !== null) bringIntoView(panel.current);
  }, [looks]);
  return (
    <section class="panel" id="answer-panel" aria-labelledby="answer-title" ref={panel}>
      <h2 id="answer-title">Answer</h2>
      <div id="answer" aria-live="polite">
        <AnswerView answer={page.answers.last.value} />
      </div>
    </section>
  );
}

/** Scrolls only where it does not stand beside the form. */
function bringIntoView(panel: HTMLElement): void {
  const { top, bottom } = panel.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) return;
  panel.scrollIntoView({ block: top < 0 || bottom - top > innerHeight ? "start" : "nearest" });
}
