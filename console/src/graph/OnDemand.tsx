// Something that is asked for only when somebody opens it.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";

interface OnDemandProps {
  label: ComponentChildren;
  class?: string;
  /** Made when it is opened, and gone when it is closed. */
  children: (close: () => void) => ComponentChildren;
}

export function OnDemand({ label, class: kind = "", children }: OnDemandProps) {
  const [isOpen, setOpen] = useState(false);
  const body = useId();
  return (
    <div class="on-demand">
      <button
        type="button"
        class={kind}
        aria-expanded={isOpen}
        aria-controls={isOpen ? body : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && (
        <div class="on-demand-body" id={body}>
          {children(() => setOpen(false))}
        </div>
      )}
    </div>
  );
}
