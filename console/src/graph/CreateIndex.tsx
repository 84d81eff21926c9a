// A form for a new index over a relation.

import { useState } from "preact/hooks";
import { Said } from "../parts/Said.tsx";
import { useAction } from "../parts/useAction.ts";
import type { RelationColumn } from "../session/catalog.ts";
import type { Session } from "../session/session.ts";
import { creation, indexTypesFor, LANGUAGES, METRICS } from "./indexes.ts";

interface CreateIndexProps {
  session: Session;
  relation: string;
  columns: readonly RelationColumn[];
  onDone: () => void;
}

export function CreateIndex({ session, relation, columns, onDone }: CreateIndexProps) {
  const action = useAction();
  const [place, setPlace] = useState(0);
  const column = columns[place];
  const types = indexTypesFor(column?.type ?? "any");
  const [wanted, setType] = useState("");
  const type = (types.find(({ name }) => name === wanted) ?? types[0])?.name ?? "hash";
  if (column === undefined) return null;
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const field = (name: string) => String(form.get(name) ?? "");
    const isDone = await action.run(async () =>
      session.looking.execute(
        creation({
          name: field("name"),
          relation,
          column: column.name,
          type,
          metric: field("metric"),
          language: field("language"),
        }),
      ),
    );
    if (isDone) onDone();
  };
  return (
    <form class="index-form" onSubmit={(event) => void create(event)}>
      <Choice
        label="Column"
        name="column"
        value={String(place)}
        onChange={(value) => setPlace(Number(value))}
      >
        {columns.map(({ name, type: kind }, number) => [String(number), `${name}: ${kind}`])}
      </Choice>
      <Choice label="Type" name="type" value={type} onChange={setType}>
        {types.map(({ name, about }) => [name, `${name}: ${about}`])}
      </Choice>
      {type === "hnsw" && (
        <Choice label="Metric" name="metric">
          {METRICS.map((metric) => [metric, metric])}
        </Choice>
      )}
      {type === "text" && (
        <Choice label="Language" name="language">
          {LANGUAGES.map((language) => [language, language])}
        </Choice>
      )}
      <div>
        <label for="index-name">Name</label>
        <input
          key={`${column.name} ${type}`}
          id="index-name"
          name="name"
          required
          maxLength={128}
          autocomplete="off"
          spellcheck={false}
          defaultValue={`${relation}_${column.name}_${type}`.replace(/[^\p{L}\p{N}_-]/gu, "_").slice(0, 128)}
        />
      </div>
      <p class="buttons">
        <button type="submit" class="main" disabled={action.isBusy}>
          Create
        </button>
        <span class="quiet">It is built in the background; nothing waits for it.</span>
      </p>
      <Said action={action} />
    </form>
  );
}

interface ChoiceProps {
  label: string;
  name: string;
  value?: string;
  onChange?: (value: string) => void;
  /** Values with what they are called. */
  children: readonly (readonly [string, string])[];
}

function Choice({ label, name, value, onChange, children }: ChoiceProps) {
  return (
    <div>
      <label for={`index-${name}`}>{label}</label>
      <select
        id={`index-${name}`}
        name={name}
        {...(value === undefined ? {} : { value })}
        onChange={(event) => onChange?.(event.currentTarget.value)}
      >
        {children.map(([each, title]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}
