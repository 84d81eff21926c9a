// Where an administrator creates a user.

import { useState } from "preact/hooks";
import type { Session } from "../session/session.ts";
import { checked } from "./checked.ts";
import { NewPassword, PASSWORD } from "./NewPassword.tsx";
import { Outcome } from "./Outcome.tsx";
import { ROLES } from "./roles.ts";
import { secretly } from "./secretly.ts";
import { useAct } from "./useAct.ts";
import { command, problemOfName } from "./words.ts";

export function NewUser({ session, onDone }: { session: Session; onDone: () => void }) {
  const act = useAct();
  const [name, setName] = useState("");
  const create = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const [password, role] = [String(given.get(PASSWORD)), String(given.get("role"))];
    const words = () => command("user", "create", name, password, role);
    if ((await act.run(async () => secretly(session.looking, words()))) === undefined) return;
    form.reset();
    setName("");
    onDone();
  };
  return (
    <form class="narrow-form" onSubmit={(event) => void create(event)} aria-busy={act.isBusy}>
      <label for="new-user">Name</label>
      <input
        id="new-user"
        name="name"
        required
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={name}
        onInput={(event) => {
          checked(problemOfName)(event);
          setName(event.currentTarget.value);
        }}
      />
      <NewPassword id="new-user" user={name} />
      <label for="new-user-role">Role</label>
      <select id="new-user-role" name="role">
        {ROLES.map(({ role, may }) => (
          <option key={role} value={role}>
            {role}: {may}
          </option>
        ))}
      </select>
      <Outcome act={act} />
      <p class="buttons">
        <button type="submit" class="main" disabled={act.isBusy}>
          Create
        </button>
      </p>
    </form>
  );
}
