// Two fields for a new password, which have to be the same.

import { useRef } from "preact/hooks";
import { checked } from "./checked.ts";
import { problemOfPassword } from "./words.ts";

interface NewPasswordProps {
  /** What the names of the fields in the page begin with. */
  id: string;
  /** Whose it is, which it may not be. */
  user: string | undefined;
}

/** What the server takes, and a command can carry. */
const ALLOWED =
  "Any printable text without blanks, of at most 1024 bytes, that does not begin with // or /*.";

/** The name under which the form has the password. */
export const PASSWORD = "password";

export function NewPassword({ id, user }: NewPasswordProps) {
  const first = useRef<HTMLInputElement>(null);
  const second = useRef<HTMLInputElement>(null);
  const compare = () => {
    const [one, other] = [first.current?.value ?? "", second.current?.value ?? ""];
    second.current?.setCustomValidity(other === "" || one === other ? "" : "The passwords are not the same.");
  };
  return (
    <>
      <label for={`${id}-password`}>New password</label>
      <input
        ref={first}
        id={`${id}-password`}
        name={PASSWORD}
        type="password"
        autocomplete="new-password"
        required
        aria-describedby={`${id}-about`}
        onInput={(event) => {
          checked((text) => problemOfPassword(text, user))(event);
          compare();
        }}
      />
      <label for={`${id}-again`}>The same again</label>
      <input
        ref={second}
        id={`${id}-again`}
        type="password"
        autocomplete="new-password"
        required
        onInput={compare}
      />
      <p id={`${id}-about`} class="quiet">
        {ALLOWED}
      </p>
    </>
  );
}
