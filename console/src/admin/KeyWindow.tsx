// A new API key, which nobody can see again.

import { useRef, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Window } from "../parts/Window.tsx";

interface KeyWindowProps {
  made: { key: string; label: string };
  onClose: () => void;
}

export function KeyWindow({ made: { key, label }, onClose }: KeyWindowProps) {
  const field = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  const copy = async () => {
    // Without TLS a browser has no clipboard for pages.
    try {
      await navigator.clipboard.writeText(key);
      setSaid("Copied.");
    } catch {
      field.current?.select();
      setSaid("This browser does not let the page copy it. It is selected: copy it with the keyboard.");
    }
  };
  return (
    <Window title="New API key" onClose={onClose}>
      <p>
        This is the key <bdi>{seen(label)}</bdi>. Copy it now: it is shown this once, and the server keeps no
        more than a hash of it.
      </p>
      <label for="made-key">API key</label>
      <input ref={field} id="made-key" class="made-key" readOnly autocomplete="off" value={key} />
      <p role="status">{said}</p>
      <p class="buttons">
        <button type="button" class="main" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={() => field.current?.closest("dialog")?.close()}>
          Done
        </button>
      </p>
    </Window>
  );
}
