// A dialog: the browser's own, which keeps the keyboard inside and closes with Escape.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface WindowProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Window({ title, onClose, children }: WindowProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} class="window" aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}
