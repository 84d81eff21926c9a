// The parameters of the program as fields: values that are sent beside it, never made into text.

import { typeOf } from "../program/parameters.ts";
import { typed } from "./asked.ts";

export function Parameters({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <fieldset class="parameters">
      <legend class="unseen">Parameters</legend>
      {names.map((name) => {
        const text = typed.value[name] ?? "";
        return (
          <label key={name}>
            <code>${name}</code> <small class="quiet">{text === "" ? "empty text" : typeOf(text)}</small>
            <input
              value={text}
              spellcheck={false}
              autocomplete="off"
              onInput={(event) => {
                typed.value = { ...typed.value, [name]: event.currentTarget.value };
              }}
            />
          </label>
        );
      })}
    </fieldset>
  );
}
