// The picture of a graph, with what moves it: hands on the canvas, buttons, and keys.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Colours } from "../useColours.ts";
import { Board } from "./Board.ts";
import type { Network } from "./network.ts";
import type { Known } from "./start.ts";

interface PictureProps {
  network: Network;
  /** Whether it is the graph that there was, with more nodes: those that were there then stay. */
  hasGrown: boolean;
  /** Where nodes stood the last time that the answer was shown. */
  known: Known | undefined;
  colours: Colours;
  chosen: number | undefined;
  isGrown: (node: number) => boolean;
  onChoose: (node: number | undefined) => void;
  onExpand: (node: number) => void;
  /** Told of the board when there is one, and when it is gone. */
  onBoard: (board: Board | undefined) => void;
  /** Further buttons. */
  children: ComponentChildren;
}

const STEP = 60;
const CLOSER = 1.3;

export function Picture(props: PictureProps) {
  const { network, hasGrown, known, colours, chosen, isGrown, onChoose, onExpand, onBoard, children } = props;
  const id = useId();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [board, setBoard] = useState<Board>();
  const [isBusy, setBusy] = useState(false);
  // The board lives longer than what it is told with.
  const told = useRef({ onChoose, onExpand });
  told.current = { onChoose, onExpand };

  useEffect(() => {
    if (canvas.current === null) return;
    const made = new Board(canvas.current, colours, {
      onChoose: (node) => told.current.onChoose(node),
      onExpand: (node) => told.current.onExpand(node),
      onBusy: setBusy,
    });
    setBoard(made);
    onBoard(made);
    return () => {
      onBoard(undefined);
      made.close();
    };
  }, []);
  useEffect(() => board?.show(network, hasGrown, board.isEmpty ? known : undefined), [board, network]);
  useEffect(() => board?.colour(colours), [board, colours]);
  useEffect(() => board?.mark(chosen, isGrown), [board, network, chosen, isGrown]);

  const key = (event: KeyboardEvent) => {
    if (board === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => board.move({ x: STEP, y: 0 }),
      ArrowRight: () => board.move({ x: -STEP, y: 0 }),
      ArrowUp: () => board.move({ x: 0, y: STEP }),
      ArrowDown: () => board.move({ x: 0, y: -STEP }),
      "+": () => board.zoom(CLOSER),
      "=": () => board.zoom(CLOSER),
      "-": () => board.zoom(1 / CLOSER),
      "0": () => board.fit(),
      Escape: () => onChoose(undefined),
      Enter: () => {
        if (chosen !== undefined) onExpand(chosen);
      },
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  return (
    <div class="graph-board">
      <div
        class="graph-frame"
        role="application"
        aria-label="Picture of the graph"
        aria-describedby={id}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys are for those who are in it
        tabIndex={0}
        onKeyDown={key}
      >
        <canvas ref={canvas} />
      </div>
      <p id={id} class="unseen">
        Arrow keys move it, plus and minus zoom, 0 shows all, Enter asks for the neighbours of the chosen
        node. The nodes are listed beside it.
      </p>
      <div class="graph-tools">
        <button type="button" aria-label="Zoom in" onClick={() => board?.zoom(CLOSER)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => board?.zoom(1 / CLOSER)}>
          −
        </button>
        <button type="button" onClick={() => board?.fit()}>
          Fit
        </button>
        <button type="button" disabled={isBusy} onClick={() => board?.arrange()}>
          Arrange again
        </button>
        {children}
        <span class="quiet" role="status">
          {isBusy ? "Arranging…" : ""}
        </span>
      </div>
    </div>
  );
}
