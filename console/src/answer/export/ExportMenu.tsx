// Saves an answer as a file: what there is of it in the page, in the order in which it is shown.

import type { Result } from "@stratalog/client";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Failure } from "../../parts/Failure.tsx";
import { count, counted } from "../../parts/text.ts";
import { csvOf } from "./csv.ts";
import "./export.css";
import { jsonOf } from "./json.ts";
import { parquetOf } from "./parquet.ts";
import { save } from "./save.ts";
import type { Run } from "./slices.ts";

interface ExportMenuProps {
  answer: Result;
  /** The rows to save, in their order; all as they came if it is not said. */
  order?: Uint32Array | undefined;
  /** What the file is called, without its ending. */
  name?: string;
}

interface Format {
  readonly title: string;
  readonly ending: string;
  readonly type: string;
  readonly write: (answer: Result, order: Uint32Array | undefined, run: Run) => Promise<BlobPart[]>;
}

const FORMATS: readonly Format[] = [
  { title: "CSV", ending: "csv", type: "text/csv;charset=utf-8", write: csvOf },
  { title: "JSON", ending: "json", type: "application/json", write: jsonOf },
  {
    title: "Parquet",
    ending: "parquet",
    type: "application/vnd.apache.parquet",
    write: async (...what) => [await parquetOf(...what)],
  },
];

/** So often the page shows how far it is. */
const SHOWN_MILLISECONDS = 100;

export function ExportMenu({ answer, order, name = "answer" }: ExportMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const [work, setWork] = useState<{ title: string; done: number }>();
  const [said, setSaid] = useState("");
  const [problem, setProblem] = useState<unknown>();
  const place = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const stopper = useRef<AbortController>(null);
  const menu = useRef<HTMLDivElement>(null);
  const id = useId();
  const rows = order?.length ?? answer.rowCount;
  const all = Math.max(rows, answer.totalCount);

  useEffect(() => () => stopper.current?.abort(), []);
  useEffect(() => {
    setSaid("");
    setProblem(undefined);
  }, [answer, order]);
  // Before the next key, which would close it again; and it opens towards the side where there is room.
  useLayoutEffect(() => {
    menu.current?.classList.remove("to-right");
    if (!isOpen) return;
    if ((menu.current?.getBoundingClientRect().left ?? 0) < 0) menu.current?.classList.add("to-right");
    place.current?.querySelector<HTMLElement>("li button")?.focus();
    const away = (event: Event) => {
      if (!place.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [isOpen]);

  const write = async ({ title, ending, type, write }: Format) => {
    const stop = new AbortController();
    stopper.current = stop;
    opener.current?.focus();
    setOpen(false);
    setSaid("");
    setProblem(undefined);
    setWork({ title, done: 0 });
    let shown = performance.now();
    const onProgress = (done: number) => {
      if (performance.now() - shown < SHOWN_MILLISECONDS) return;
      shown = performance.now();
      setWork({ title, done });
    };
    try {
      save(`${name}.${ending}`, await write(answer, order, { signal: stop.signal, onProgress }), type);
      setSaid(`Saved ${counted(rows, "row")}.`);
    } catch (failure) {
      if (stop.signal.aborted) setSaid("Nothing was saved.");
      else setProblem(failure);
    } finally {
      setWork(undefined);
    }
  };

  const key = (event: KeyboardEvent) => {
    if (!isOpen) return;
    const choices = [...(place.current?.querySelectorAll<HTMLElement>("li button") ?? [])];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      event.stopPropagation();
      setOpen(false);
      opener.current?.focus();
    } else if (step !== undefined) {
      event.preventDefault();
      const now = choices.indexOf(document.activeElement as HTMLElement);
      choices[(now + step + choices.length) % choices.length]?.focus();
    }
  };

  const leave = (event: FocusEvent) => {
    if (event.relatedTarget !== null && !place.current?.contains(event.relatedTarget as Node)) setOpen(false);
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the buttons in it
    <div ref={place} class="export" onKeyDown={key} onFocusOut={leave}>
      <button
        ref={opener}
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-disabled={work !== undefined}
        onClick={() => setOpen(!isOpen && work === undefined)}
      >
        Save…
      </button>
      <div ref={menu} id={id} class="export-menu" hidden={!isOpen}>
        <p class="quiet">
          Saves {rows < all ? `${count(rows)} of ${counted(all, "row")}` : counted(rows, "row")}
          {order !== undefined && ", in the order shown"}.
        </p>
        <ul>
          {FORMATS.map((format) => (
            <li key={format.title}>
              <button
                type="button"
                disabled={format.ending === "parquet" && answer.columns.length === 0}
                onClick={() => void write(format)}
              >
                {format.title}
              </button>
            </li>
          ))}
        </ul>
      </div>
      {work !== undefined && (
        <span class="export-work">
          <progress aria-label={`Writing ${work.title}`} max={rows} value={work.done} />
          <button type="button" onClick={() => stopper.current?.abort()}>
            Stop
          </button>
        </span>
      )}
      <span class="quiet" role="status">
        {said}
      </span>
      {problem !== undefined && <Failure problem={problem} />}
    </div>
  );
}
