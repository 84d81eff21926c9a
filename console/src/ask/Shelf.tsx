// What was asked before, and what was saved, each a click from the editor.

import { useRef, useState } from "preact/hooks";
import { Code } from "../parts/Code.tsx";
import { Failure } from "../parts/Failure.tsx";
import { Window } from "../parts/Window.tsx";
import { address } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { past, text } from "./asked.ts";
import { bring, useQuestions } from "./questions.ts";
import { save, saved, unsave } from "./saved.ts";

interface ShelfProps {
  onTake: (program: string) => void;
  onClose: () => void;
}

/** Saved programs of this graph, with a field to save what is in the editor: for oneself, or for whoever opens the graph. */
export function SavedPrograms({ session, onTake, onClose }: ShelfProps & { session: Session }) {
  const graph = session.graph.value;
  const questions = useQuestions(session);
  const [name, setName] = useState("");
  const [isForAll, setForAll] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const field = useRef<HTMLInputElement>(null);
  const own = saved.value.filter((one) => one.graph === graph);
  const isThere = own.some((one) => one.name === name.trim());
  const keep = async (event: SubmitEvent) => {
    event.preventDefault();
    const program = text.peek();
    setProblem(undefined);
    try {
      if (isForAll) {
        await bring(session, { title: name.trim(), program, shown: address.peek().parts[0] ?? "table" });
      } else save({ name: name.trim(), graph, program });
      setName("");
      field.current?.focus();
    } catch (failure) {
      setProblem(failure);
    }
  };
  return (
    <Window title="Saved programs" onClose={onClose}>
      <form onSubmit={(event) => void keep(event)}>
        <label for="save-as">Save what is in the editor as</label>
        <div class="in-a-row">
          <input
            ref={field}
            id="save-as"
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            autocomplete="off"
          />
          <button type="submit" disabled={name.trim() === "" || text.value.trim() === ""}>
            {isThere && !isForAll ? "Replace" : "Save"}
          </button>
        </div>
        {session.may("editor") && (
          <label class="flag">
            <input
              type="checkbox"
              checked={isForAll}
              onChange={(event) => setForAll(event.currentTarget.checked)}
            />
            in the graph, for everybody who may read it
          </label>
        )}
        {problem !== undefined && <Failure problem={problem} />}
      </form>
      {questions.length > 0 && (
        <>
          <h3>Of this graph</h3>
          <ul class="shelf">
            {questions.map((one) => (
              <li key={one.title}>
                <button type="button" class="take" onClick={() => onTake(one.program)}>
                  <strong>{one.title}</strong>
                  <Code text={one.program.slice(0, 400)} />
                </button>
              </li>
            ))}
          </ul>
          <h3>In this browser</h3>
        </>
      )}
      {own.length === 0 ? (
        <p class="quiet">Nothing is saved for {graph} in this browser.</p>
      ) : (
        <ul class="shelf">
          {own.map((one) => (
            <li key={one.name}>
              <button type="button" class="take" onClick={() => onTake(one.program)}>
                <strong>{one.name}</strong>
                <Code text={one.program.slice(0, 400)} />
              </button>
              <button
                type="button"
                class="plain"
                aria-label={`Forget ${one.name}`}
                onClick={() => unsave(one)}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
    </Window>
  );
}

/** What was asked on this graph in this browser. */
export function History({ graph, onTake, onClose }: ShelfProps & { graph: string }) {
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLocaleLowerCase();
  const own = past.value.filter(
    (one) => one.graph === graph && one.program.toLocaleLowerCase().includes(wanted),
  );
  return (
    <Window title="History" onClose={onClose}>
      <input
        type="search"
        aria-label="Filter history"
        placeholder="Filter"
        value={filter}
        onInput={(event) => setFilter(event.currentTarget.value)}
      />
      {own.length === 0 ? (
        <p class="quiet">
          Nothing was asked of {graph} in this browser{wanted === "" ? "" : " that holds this"}.
        </p>
      ) : (
        <ul class="shelf">
          {own.map((one) => (
            <li key={one.at}>
              <button type="button" class="take" onClick={() => onTake(one.program)}>
                <Code text={one.program.slice(0, 400)} />
                <small class="quiet">
                  {new Date(one.at).toLocaleString()} · {one.outcome}
                </small>
              </button>
            </li>
          ))}
        </ul>
      )}
      {own.length > 0 && (
        <p class="buttons">
          <button
            type="button"
            onClick={() => {
              past.value = past.peek().filter((one) => one.graph !== graph);
            }}
          >
            Forget all of it
          </button>
        </p>
      )}
    </Window>
  );
}
