// Where a message is written: its type, an example of it, its fields, and what becomes of them.

import { Fragment } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { FieldView, idOf } from "./FieldView.tsx";
import { type Field, messageText } from "./fields.ts";
import { WrongField } from "./form.ts";
import { shown } from "./frames.ts";
import type { Page } from "./page.ts";
import { Text } from "./Text.tsx";
import { textOf } from "./written.ts";

const NO_CLIPBOARD = "copy it from below: the browser does not let pages write to the clipboard here";

export function MessagePanel({ page }: { page: Page }) {
  const { form, told, protocol } = page;
  const frame = useRef<HTMLFormElement>(null);
  const more = useRef<HTMLDetailsElement>(null);
  const python = useRef<HTMLDetailsElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const request = form.request.value;
  const fields = form.fields.value;
  const example = form.example.value;
  const schema = useMemo(() => textOf(protocol.completed(request.payload)), [request]);
  const { given, problems } = form.reading.value;

  // What an example has is seen.
  useLayoutEffect(() => {
    const isSeldom = ({ name, isFolded }: Field) => isFolded && name !== "id" && name in form.payload;
    if (more.current !== null && fields.some(isSeldom)) more.current.open = true;
  }, [fields, example]);

  const say = (problem: unknown) => {
    told.value = problem instanceof Error ? problem.message : String(problem);
    if (!(problem instanceof WrongField)) return;
    if (problem.field.isFolded && more.current !== null) more.current.open = true;
    document.getElementById(idOf(problem.field))?.focus();
  };
  const send = (event: Event) => {
    event.preventDefault();
    page.send(file.current?.files?.[0]).catch(say);
  };
  const copy = async () => {
    try {
      form.read();
    } catch (problem) {
      say(problem);
      return;
    }
    if (python.current !== null) python.current.open = true;
    await navigator.clipboard.writeText(page.python.value).then(
      () => say("copied"),
      () => say(NO_CLIPBOARD),
    );
  };
  const isUpload = form.kind.value === "insert" && fields.some(({ name }) => name === "format");
  const view = (field: Field) => (
    <FieldView
      key={`${form.kind.value} ${field.name}`}
      field={field}
      typed={form.typed.value[field.name] ?? ""}
      problem={problems.get(field.name)}
      onType={(text) => {
        told.value = "";
        form.type(field.name, text);
      }}
    />
  );
  const folded = fields.filter(({ isFolded }) => isFolded);
  const wrong = fields.find(({ name }) => problems.has(name));
  return (
    <section class="panel" aria-labelledby="message-title">
      <h2 id="message-title">Message</h2>
      <form
        id="message-form"
        ref={frame}
        noValidate
        onSubmit={send}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) frame.current?.requestSubmit();
        }}
      >
        <div class="row">
          <div>
            <label for="kind">Type</label>
            <select
              id="kind"
              value={form.kind.value}
              onChange={(event) => {
                told.value = "";
                form.choose(event.currentTarget.value);
              }}
            >
              {form.kinds.map(({ kind }) => (
                <option key={kind} value={kind}>
                  {kind}
                </option>
              ))}
            </select>
          </div>
          <div class="wide">
            <label for="example">Example</label>
            <select
              id="example"
              value={example}
              onChange={(event) => {
                told.value = "";
                form.show(event.currentTarget.value);
              }}
            >
              <option value="">—</option>
              {request.examples.map(({ summary }, number) => (
                <option key={number} value={String(number)}>
                  {summary}
                </option>
              ))}
            </select>
          </div>
        </div>
        <p id="summary">{request.summary}</p>
        <div id="fields">
          {fields.filter(({ isFolded }) => !isFolded).map(view)}
          {folded.length > 0 && (
            <details class="more" key={form.kind.value} ref={more}>
              <summary>More fields</summary>
              {folded.map(view)}
              {isUpload && (
                <div class="field">
                  <label for="field-arrow">
                    Arrow stream<span class="quiet"> for the format arrow</span>
                  </label>
                  <input id="field-arrow" type="file" ref={file} />
                </div>
              )}
            </details>
          )}
        </div>
        <div class="buttons">
          <button type="submit" class="main">
            Send
          </button>
          <button type="button" id="copy" onClick={() => void copy()}>
            Copy as Python
          </button>
          <span id="told" role="status" class="quiet">
            {told.value}
          </span>
        </div>
      </form>
      <details>
        <summary>What is sent</summary>
        <Text
          id="preview"
          text={
            wrong === undefined
              ? shown(messageText(given), protocol.secrets)
              : `${wrong.name}: ${problems.get(wrong.name)}`
          }
        />
      </details>
      <details ref={python}>
        <summary>Python</summary>
        <Text id="python" text={page.python.value} />
      </details>
      <details>
        <summary>Schema</summary>
        <Text id="schema" text={schema} />
      </details>
      <details>
        <summary>What the server may answer</summary>
        <dl id="answers">
          {request.answers.map(({ title, summary }) => (
            <Fragment key={title}>
              <dt>{title}</dt>
              <dd>{summary}</dd>
            </Fragment>
          ))}
        </dl>
      </details>
    </section>
  );
}
