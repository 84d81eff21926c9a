// A field of a message, with its name, what it is about, and what is wrong with what is typed into it.

import type { Field } from "./fields.ts";

interface FieldProps {
  field: Field;
  typed: string;
  problem: string | undefined;
  onType: (text: string) => void;
}

/** The id of the element that is typed into. */
export function idOf({ name }: Field): string {
  return `field-${name}`;
}

export function FieldView(props: FieldProps) {
  const { field, problem } = props;
  const id = idOf(field);
  const label = (
    <label for={id}>
      {field.name}
      {!field.isRequired && <span class="quiet"> optional</span>}
    </label>
  );
  const input = <FieldInput {...props} />;
  const isFlag = field.kind === "flag";
  return (
    <div class={isFlag ? "field flag" : "field"}>
      {isFlag ? [input, label] : [label, input]}
      <small id={`${id}-about`}>{field.about}</small>
      <small id={`${id}-problem`} class="problem" hidden={problem === undefined}>
        {problem}
      </small>
    </div>
  );
}

function FieldInput({ field, typed, problem, onType }: FieldProps) {
  const id = idOf(field);
  const common = {
    id,
    "aria-invalid": problem !== undefined,
    "aria-required": field.isRequired,
    "aria-describedby": `${id}-about ${id}-problem`,
  };
  const line = {
    ...common,
    value: typed,
    spellcheck: false,
    autocomplete: "off" as const,
    onInput: (event: { currentTarget: { value: string } }) => onType(event.currentTarget.value),
  };
  switch (field.kind) {
    case "choice":
      return (
        <select {...common} value={typed} onChange={(event) => onType(event.currentTarget.value)}>
          {!field.isRequired && <option value="">—</option>}
          {field.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      );
    case "flag":
      return (
        <input
          {...common}
          type="checkbox"
          checked={typed === "true"}
          onChange={(event) => onType(event.currentTarget.checked ? "true" : "")}
        />
      );
    case "program":
      return <textarea {...line} rows={4} class="code" />;
    case "json":
      return <textarea {...line} rows={2} class="code" placeholder={field.placeholder} />;
    case "secret":
      return <input {...line} type="password" />;
    case "integer":
      return <input {...line} inputMode="numeric" />;
    case "line":
    case "text-or-number":
      return <input {...line} />;
  }
}
