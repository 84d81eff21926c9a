// One row of an answer, whole: every value as long as it is, and the way to its proof.

import type { Result } from "@stratalog/client";
import { useState } from "preact/hooks";
import { kindOf, seen } from "../parts/Cell.tsx";
import { copy } from "../parts/clipboard.ts";
import { count, textOf } from "../parts/text.ts";

interface RowDetailProps {
  answer: Result;
  row: number;
  whyOf: (row: number) => string;
  onClose: () => void;
}

/** So many signs of a value are shown at first. */
const FIRST = 5000;

export function RowDetail({ answer, row, whyOf, onClose }: RowDetailProps) {
  const isOfSession = answer.provenance[row] === "ephemeral";
  return (
    <aside class="panel row-detail" aria-label={`Row ${row + 1}`}>
      <header>
        <h2>Row {count(row + 1)}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      {isOfSession && <p class="quiet">It needs facts or rules of this session.</p>}
      <dl>
        {answer.columns.map(({ name, type }, place) => (
          <Field
            key={`${row} ${place}`}
            name={name}
            type={type}
            text={textOf(answer.cell(row, place))}
            kind={kindOf(answer.cell(row, place), type)}
          />
        ))}
      </dl>
      <p>
        <a class="button" href={whyOf(row)}>
          Why is this here?
        </a>
      </p>
    </aside>
  );
}

function Field({ name, type, text, kind }: { name: string; type: string; text: string; kind: string }) {
  const [most, setMost] = useState(FIRST);
  return (
    <>
      <dt>
        <bdi>{seen(name)}</bdi> <small class="quiet">{type}</small>
        <button type="button" class="link" onClick={() => void copy(text)}>
          copy<span class="unseen"> {name}</span>
        </button>
      </dt>
      <dd>
        <bdi class={`value ${kind}`}>{seen(text.slice(0, most))}</bdi>
        {text.length > most && (
          <button type="button" class="link" onClick={() => setMost(most * 20)}>
            {count(most)} of {count(text.length)} signs: more
          </button>
        )}
      </dd>
    </>
  );
}
