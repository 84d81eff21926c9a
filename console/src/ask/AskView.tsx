// Where one asks: the editor, the parameters of the program, and what came of it.

import type { EditorView } from "@codemirror/view";
import { onlyReads } from "@stratalog/client";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { AnswerView } from "../answer/AnswerView.tsx";
import { Editor } from "../editor/Editor.tsx";
import { placeOf } from "../editor/places.ts";
import { Failure } from "../parts/Failure.tsx";
import { count, howFar } from "../parts/text.ts";
import { paramsFor, textOfParams, typedOf } from "../program/params.ts";
import { address, go, to } from "../session/address.ts";
import type { Session, ViewProps } from "../session/session.ts";
import { asWhy } from "../why/question.ts";
import "./ask.css";
import { parametersOf } from "../program/scan.ts";
import { tellsASecret } from "../program/secrets.ts";
import { ask, asked, cancel, limit, text, typed } from "./asked.ts";
import { Parameters } from "./Parameters.tsx";
import { useQuestions } from "./questions.ts";
import { History, SavedPrograms } from "./Shelf.tsx";

const LIMITS = [100, 1_000, 10_000, 100_000, 1_000_000];

export function AskView({ session }: ViewProps) {
  const { values } = address.value;
  const { q: linked, p: given } = values;
  const editor = useRef<EditorView>(undefined);
  const [shelf, setShelf] = useState<"history" | "saved">();
  const [problem, setProblem] = useState<unknown>();
  const program = text.value;
  const names = useMemo(() => parametersOf(program), [program]);
  const now = asked.value?.graph === session.graph.value ? asked.value : undefined;
  const isRunning = now?.state === "running";
  /** Whether the shelf was closed because something was taken from it. */
  const isTaken = useRef(false);
  /** The program of the address that the editor has taken notice of. */
  const shown = useRef(now && keyOf(now.program, now.p));

  const run = (selected?: string) => {
    setProblem(undefined);
    const part = selected ?? text.peek();
    if (part.trim() === "") return;
    const fields = parametersOf(part).map((name) => ({ name, text: typed.peek()[name] ?? "" }));
    const offset = selected === undefined ? 0 : (editor.current?.state.selection.main.from ?? 0);
    void ask(session, part, fields, offset);
    if (tellsASecret(part)) return;
    const p = asked.peek()?.p;
    shown.current = keyOf(part, p);
    go(to("ask", [address.peek().parts[0] ?? "table"], { q: part, ...(p === undefined ? {} : { p }) }));
  };

  // A link opens a program, and runs it if that changes nothing.
  useEffect(() => {
    if (linked === undefined) return;
    const key = keyOf(linked, given);
    if (key === shown.current) return;
    shown.current = key;
    text.value = linked;
    if (now !== undefined && keyOf(now.program, now.p) === key) return;
    try {
      const params = paramsFor(linked, given);
      const fields = Object.entries(params).map(([name, value]) => ({ name, text: typedOf(value) }));
      typed.value = {
        ...typed.peek(),
        ...Object.fromEntries(fields.map((field) => [field.name, field.text])),
      };
      if (onlyReads(linked) && parametersOf(linked).length === fields.length)
        void ask(session, linked, fields);
    } catch (failure) {
      setProblem(failure);
    }
  }, [session, linked, given]);

  const toPlace = (bytes: number) => {
    const view = editor.current;
    if (view === undefined || now === undefined) return;
    // The editor has one sign for the end of a line, whatever a link has.
    const before = now.program.slice(0, placeOf(now.program, bytes)).replaceAll("\r\n", "\n");
    const anchor = Math.min(now.offset + before.length, view.state.doc.length);
    view.dispatch({ selection: { anchor }, scrollIntoView: true });
    view.focus();
  };

  const format = async () => {
    setProblem(undefined);
    try {
      const before = text.peek();
      const formatted = await session.asking.format(before);
      // What was typed meanwhile stays.
      if (text.peek() === before) text.value = formatted;
    } catch (failure) {
      setProblem(failure);
    }
  };

  const take = (taken: string) => {
    text.value = taken;
    isTaken.current = true;
    setShelf(undefined);
  };
  // As long as a window is open, nothing beside it can have the keyboard.
  useLayoutEffect(() => {
    if (shelf === undefined && isTaken.current) editor.current?.focus();
    isTaken.current = false;
  }, [shelf]);

  const question = now?.program ?? program;
  return (
    <div class="ask">
      <h1 class="unseen">Ask {session.graph.value}</h1>
      <div class="ask-editor">
        <Editor
          session={session}
          value={program}
          onChange={(changed) => {
            text.value = changed;
          }}
          onRun={run}
          label="Program"
          hint={"?relation(X, Y)    Ctrl-Enter runs it"}
          onReady={(view) => {
            editor.current = view;
          }}
        />
      </div>
      <Parameters names={names} />
      <div class="ask-tools">
        {isRunning ? (
          <button type="button" class="danger" onClick={cancel}>
            Cancel
          </button>
        ) : (
          <button type="button" class="main" disabled={program.trim() === ""} onClick={() => run()}>
            Run
          </button>
        )}
        <label class="limit">
          <span class="quiet">at most</span>
          <select
            value={limit.value}
            onChange={(event) => {
              limit.value = Number(event.currentTarget.value);
            }}
          >
            {LIMITS.map((rows) => (
              <option key={rows} value={rows}>
                {count(rows)} rows
              </option>
            ))}
            <option value={0}>all rows</option>
          </select>
        </label>
        <button type="button" disabled={program.trim() === ""} onClick={() => void format()}>
          Format
        </button>
        <button type="button" onClick={() => setShelf("saved")}>
          Saved
        </button>
        <button type="button" onClick={() => setShelf("history")}>
          History
        </button>
        <span class="ask-ways">
          {!tellsASecret(question) && (question.trim().startsWith("?") || /\n\?/.test(question)) ? (
            <>
              <a class="button" href={to("plan", [], { q: question })}>
                Plan
              </a>
              <a class="button" href={to("live", [], { q: question })}>
                Watch
              </a>
              {asWhy(question) !== undefined && (
                <a
                  class="button"
                  href={to("why", ["row"], { q: question, ...(now?.p === undefined ? {} : { p: now.p }) })}
                >
                  Why
                </a>
              )}
            </>
          ) : null}
        </span>
      </div>
      {problem !== undefined && <Failure problem={problem} />}
      {now === undefined ? (
        <Beginning session={session} />
      ) : now.state === "running" ? (
        <p class="waiting quiet">
          <span role="status">Running…</span> {now.working !== undefined && howFar(now.working)}
        </p>
      ) : now.state === "failed" ? (
        <Failure problem={now.problem} onPlace={toPlace} />
      ) : (
        now.result !== undefined && (
          <AnswerView session={session} answer={now.result} program={now.program} p={now.p} />
        )
      )}
      {shelf === "saved" && (
        <SavedPrograms session={session} onTake={take} onClose={() => setShelf(undefined)} />
      )}
      {shelf === "history" && (
        <History graph={session.graph.value} onTake={take} onClose={() => setShelf(undefined)} />
      )}
    </div>
  );
}

/** What stands there before anything was asked. */
function Beginning({ session }: { session: Session }) {
  const { relations, isKnown } = session.catalog.value;
  const questions = useQuestions(session);
  if (!isKnown) return null;
  if (relations.size === 0) {
    return (
      <p class="quiet beginning">
        There is nothing in this graph yet. <code>+parent("ada", "bob")</code> stores a fact,{" "}
        <code>?parent(X, Y)</code> asks for all.
      </p>
    );
  }
  return (
    <div class="beginning">
      {questions.length > 0 && (
        <>
          <h2>Questions to begin with</h2>
          <ul class="questions">
            {questions.map(({ title, program, shown }) => (
              <li key={title}>
                <a href={to("ask", [shown], { q: program })}>{title}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="quiet">
        <a href={to("relations")}>What there is to ask about</a>, and <a href={to("rules")}>how it follows</a>
        .
      </p>
    </div>
  );
}

/** A program with its parameters, however these are written. */
function keyOf(program: string, p: string | undefined): string {
  try {
    return JSON.stringify([program, textOfParams(paramsFor(program, p))]);
  } catch {
    return JSON.stringify([program, p]);
  }
}
