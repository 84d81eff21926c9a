// Where one changes one's own password. The server then ends all other sessions of the user, so the page logs in again.

import { useState } from "preact/hooks";
import { Failure } from "../parts/Failure.tsx";
import { forget, keep, logIn, type ViewProps } from "../session/session.ts";
import { NewPassword, PASSWORD } from "./NewPassword.tsx";
import { secretly } from "./secretly.ts";
import { command } from "./words.ts";

export function PasswordPart({ session }: ViewProps) {
  const { user } = session;
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const [isDone, setDone] = useState(false);
  const isAsking = session.isBusy.value;

  const change = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const password = String(given.get(PASSWORD));
    setBusy(true);
    setProblem(undefined);
    setDone(false);
    try {
      // The session that does it is the one that goes on, and with the one that asks the page would end.
      session.isLeaving = true;
      await secretly(session.asking, command("user", "password", password));
    } catch (failure) {
      session.isLeaving = false;
      setProblem(failure);
      setBusy(false);
      return;
    }
    // What the tab may have kept opens nothing any more.
    forget();
    const credentials = { user, password };
    if (given.has("keep")) keep(credentials);
    try {
      await logIn(credentials, session.graph.peek());
      session.close();
      form.reset();
      setDone(true);
    } catch (failure) {
      forget();
      console.debug("could not log in with the new password", failure);
      session.close("The password was changed. Log in with the new one.");
    } finally {
      setBusy(false);
    }
  };

  return (
    <section class="part">
      <h2>Your password</h2>
      <p>
        Changing it ends all your other sessions, also those that your API keys have opened. This page logs in
        again; facts and rules of its session are gone then.
      </p>
      <form class="narrow-form" onSubmit={(event) => void change(event)} aria-busy={isBusy}>
        <label for="own-user">User</label>
        <input id="own-user" name="username" autocomplete="username" readOnly value={user ?? ""} />
        <NewPassword id="own" user={user} />
        <label class="flag">
          <input type="checkbox" name="keep" />
          Stay logged in until this tab is closed
        </label>
        {problem !== undefined && <Failure problem={problem} />}
        <p class="good" role="status">
          {isDone && "Your password is changed."}
        </p>
        <p class="buttons">
          <button type="submit" class="main" disabled={isBusy || isAsking}>
            Change the password
          </button>
          {isAsking && <span class="quiet">once your program has ended that runs</span>}
        </p>
      </form>
    </section>
  );
}
