// One of several things to choose, in a row of them.

import { useId } from "preact/hooks";

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly { value: string; title: string }[];
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <span class="choice-of">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
    </span>
  );
}
