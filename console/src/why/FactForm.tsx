// A fact to ask about: a field for each column of a relation, or as text.

import { useId, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import type { Session } from "../session/session.ts";
import { type FieldColumn, type Fields, factOfFields, fieldsOfFact } from "./fields.ts";

interface FactFormProps {
  session: Session;
  fact: string;
  onAsk: (fact: string) => void;
}

export function FactForm({ session, fact, onAsk }: FactFormProps) {
  const id = useId();
  const [text, setText] = useState(fact);
  const [relation, setRelation] = useState(fieldsOfFact(fact, [])?.relation ?? "");
  // What is typed in the fields; without any, they say what stands in the text.
  const [typed, setTyped] = useState<readonly string[] | undefined>();
  const { relations } = session.catalog.value;
  const columns = relations.get(relation)?.columns ?? [];
  // Where a relation alone was named, any of its rows is meant.
  const isBare = text === `${relation}()` && columns.length > 0;
  const whole = isBare ? factOfFields({ relation, inputs: columns.map(() => "") }, columns) : text;
  const said = fieldsOfFact(whole, columns);
  const inputs = typed ?? (said?.relation === relation ? said.inputs : []);

  const write = (fields: Fields, of: readonly FieldColumn[]) => {
    setTyped(fields.inputs);
    setText(factOfFields(fields, of));
  };
  const choose = (name: string) => {
    setRelation(name);
    setTyped(undefined);
    setText(name === "" ? "" : `${name}(${(relations.get(name)?.columns ?? []).map(() => "_").join(", ")})`);
  };
  const edit = (now: string) => {
    setText(now);
    setTyped(undefined);
    setRelation(fieldsOfFact(now, [])?.relation ?? relation);
  };
  const ask = (event: SubmitEvent) => {
    event.preventDefault();
    if (whole.trim() !== "") onAsk(whole.trim());
  };
  return (
    <form class="why-form" onSubmit={ask}>
      <label for={`${id}-relation`}>Relation</label>
      <select
        id={`${id}-relation`}
        value={relations.has(relation) ? relation : ""}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="">any, as text</option>
        {[...relations.keys()].map((name) => (
          <option key={name} value={name}>
            {seen(name)}
          </option>
        ))}
      </select>
      {relations.has(relation) && columns.length > 0 && (
        <fieldset class="fact-fields">
          <legend>Values: an empty field is any value</legend>
          {columns.map(({ name, type }, column) => (
            <div key={column}>
              <label for={`${id}-${column}`}>
                <bdi>{seen(name)}</bdi> <small class="quiet">{type ?? "any type"}</small>
              </label>
              <input
                id={`${id}-${column}`}
                spellcheck={false}
                autocomplete="off"
                autocapitalize="none"
                placeholder="any value"
                value={inputs[column] ?? ""}
                onInput={(event) => {
                  const now = columns.map((_, place) => inputs[place] ?? "");
                  now[column] = event.currentTarget.value;
                  write({ relation, inputs: now }, columns);
                }}
              />
            </div>
          ))}
        </fieldset>
      )}
      <label for={`${id}-fact`}>Fact</label>
      <input
        id={`${id}-fact`}
        class="program"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="none"
        placeholder={'path("a", _)'}
        aria-describedby={`${id}-about`}
        value={whole}
        onInput={(event) => edit(event.currentTarget.value)}
      />
      <p id={`${id}-about`} class="quiet">
        _ stands for any value.
      </p>
      <p class="buttons">
        <button type="submit" class="main" disabled={whole.trim() === ""}>
          Ask why not
        </button>
      </p>
    </form>
  );
}
