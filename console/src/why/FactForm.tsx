// A fact to ask about: a field for each column of a relation, or as text.

import { useId, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { useTask } from "../parts/useTask.ts";
import type { Session } from "../session/session.ts";
import {
  columnsOfClause,
  type FieldColumn,
  type Fields,
  factOfFields,
  fieldsOfFact,
  isName,
} from "./fields.ts";

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
  const columns = useColumns(session, relation);
  // Of a relation that rules alone derive, it is known only after a while how many columns it has.
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

/** The columns of a relation; of one that rules alone derive, those of the head of its first clause. */
function useColumns(session: Session, name: string): readonly FieldColumn[] {
  const relation = session.catalog.value.relations.get(name);
  const columns = relation?.columns ?? [];
  const isAsked = columns.length === 0 && (relation?.isDerived ?? false) && isName(name);
  const task = useTask(
    async (signal): Promise<readonly FieldColumn[]> => {
      if (!isAsked) return [];
      const clauses = await session.looking.execute(`.rule def ${name}`, { reads: true, signal });
      return clauses.rowCount === 0 ? [] : columnsOfClause(String(clauses.cell(0, 0)));
    },
    [session, name, isAsked],
  );
  if (!isAsked) return columns;
  return task.state === "done" ? task.value : [];
}
