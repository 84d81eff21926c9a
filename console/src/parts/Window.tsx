// A dialog: the browser's own, which keeps the keyboard inside and closes with Escape. Closed by the browser, it gives the
// keyboard back to what it was opened by: so it is closed before it is taken away, too.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface WindowProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Window({ title, onClose, children }: WindowProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const told = useRef(onClose);
  told.current = onClose;
  // Of a layout effect the end comes before the dialog is taken away.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    const tell = () => told.current();
    element.addEventListener("close", tell);
    element.showModal();
    return () => {
      element.removeEventListener("close", tell);
      element.close();
    };
  }, []);
  return (
    <dialog ref={dialog} class="window" aria-label={title}>
      <div class="window-head">
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </div>
      {children}
    </dialog>
  );
}
