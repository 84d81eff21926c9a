// A field for program text: colours, what may be written here, and what is wrong under the very words, while one types.
//
// What is known of the program comes from the server, which checks it without running anything.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, insertTab } from "@codemirror/commands";
import { bracketMatching } from "@codemirror/language";
import { linter, lintGutter, lintKeymap } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../session/session.ts";
import { completions } from "./completions.ts";
import "./editor.css";
import { findings } from "./findings.ts";
import { stratalog } from "./language.ts";

export interface EditorProps {
  session: Session;
  value: string;
  onChange: (text: string) => void;
  /** What Ctrl-Enter does, given the selection, if there is one. */
  onRun?: (selected: string | undefined) => void;
  /** What it is, for those who do not see it. */
  label: string;
  /** What stands there while it is empty. */
  hint?: string;
  /** Without line numbers, as high as its text. */
  compact?: boolean;
  /** Whether it has the keyboard at once. */
  isFocused?: boolean;
  /** Gets the editor itself. */
  onReady?: (view: EditorView) => void;
}

/** Marks a change that was not made in the field, but given to it. */
const GIVEN = Annotation.define<boolean>();

/** In the page, the server writes the number that its policy allows styles by. */
const NONCE = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? "";

export function Editor(props: EditorProps) {
  const { session, value, label, hint = "", compact = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const now = useRef(props);
  now.current = props;
  /** Texts that were told, and that have not come back as `value` yet. */
  const told = useRef<string[]>([]);

  useEffect(() => {
    if (place.current === null) return;
    const run = (editor: EditorView) => {
      const { onRun } = now.current;
      const { from, to } = editor.state.selection.main;
      onRun?.(from === to ? undefined : editor.state.sliceDoc(from, to));
      return onRun !== undefined;
    };
    const state = EditorState.create({
      doc: value,
      extensions: [
        Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        stratalog(),
        autocompletion({ override: [completions(session)], icons: false }),
        linter(findings(session), { delay: 400 }),
        compact ? [] : [lineNumbers(), lintGutter()],
        placeholder(hint),
        EditorView.lineWrapping,
        EditorView.cspNonce.of(NONCE),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => {
          const isGiven = update.transactions.some((transaction) => transaction.annotation(GIVEN) === true);
          if (!update.docChanged || isGiven) return;
          const text = update.state.doc.toString();
          told.current.push(text);
          now.current.onChange(text);
        }),
        // Tab leaves the field, as everywhere else on a page.
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...searchKeymap,
          ...lintKeymap,
          ...defaultKeymap,
          { key: "Alt-Tab", run: insertTab, shift: indentLess },
        ]),
      ],
    });
    const editor = new EditorView({ state, parent: place.current });
    view.current = editor;
    if (now.current.isFocused) editor.focus();
    now.current.onReady?.(editor);
    return () => editor.destroy();
    // The editor keeps its text by itself.
  }, [session]);

  useEffect(() => {
    const editor = view.current;
    // What comes back may be older than what stands there by now: it changes nothing, or both would go on for ever.
    const echo = told.current.lastIndexOf(value);
    told.current = echo === -1 ? [] : told.current.slice(echo + 1);
    if (echo !== -1 || editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      annotations: GIVEN.of(true),
    });
  }, [value]);

  return <div ref={place} class={compact ? "editor compact" : "editor"} />;
}
