// Asks before something is done that cannot be undone.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Failure } from "./Failure.tsx";
import { Window } from "./Window.tsx";

interface SureProps {
  /** What the button says. */
  label: string;
  /** What will happen, in a sentence. */
  what: ComponentChildren;
  /** Does it. */
  act: () => Promise<unknown>;
  class?: string;
}

export function Sure({ label, what, act, class: kind = "" }: SureProps) {
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const close = () => {
    setOpen(false);
    setProblem(undefined);
  };
  const run = async () => {
    setBusy(true);
    try {
      await act();
      close();
    } catch (failure) {
      setProblem(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" class={kind} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && (
        <Window title={label} onClose={close}>
          <p>{what}</p>
          {problem !== undefined && <Failure problem={problem} />}
          <p class="buttons">
            <button type="button" class="danger" disabled={isBusy} onClick={() => void run()}>
              {label}
            </button>
            <button type="button" onClick={close}>
              Keep it
            </button>
          </p>
        </Window>
      )}
    </>
  );
}
