// Where one logs in: with a password or a key, over the socket like any client. Neither is ever part of an address.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Failure } from "../parts/Failure.tsx";
import { address } from "../session/address.ts";
import { type Credentials, forget, goodbye, keep, logIn, logInAgain } from "../session/session.ts";

type Way = "password" | "key";

export function Door() {
  const [way, setWay] = useState<Way>("password");
  const [isBusy, setBusy] = useState(true);
  const [problem, setProblem] = useState<unknown>();
  const first = useRef<HTMLInputElement>(null);

  useEffect(() => {
    logInAgain(address.peek().graph)
      .catch(setProblem)
      .finally(() => setBusy(false));
  }, []);
  useLayoutEffect(() => {
    if (!isBusy) first.current?.focus();
  }, [isBusy, way]);

  const enter = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const field = (name: string) => String(form.get(name) ?? "");
    const credentials: Credentials =
      way === "password" ? { user: field("user"), password: field("password") } : { apiKey: field("key") };
    setBusy(true);
    setProblem(undefined);
    forget();
    // Before the page opens, which may be loaded again at once.
    if (form.has("keep")) keep(credentials);
    try {
      await logIn(credentials, address.peek().graph);
    } catch (failure) {
      forget();
      setProblem(failure);
      setBusy(false);
    }
  };

  return (
    <main class="door">
      <form class="panel" onSubmit={(event) => void enter(event)} aria-busy={isBusy}>
        <h1>Stratalog</h1>
        {goodbye.value !== undefined && (
          <p class="notice" role="status">
            {goodbye.value}
          </p>
        )}
        <fieldset class="choice">
          <legend>Log in with</legend>
          {(["password", "key"] as const).map((each) => (
            <label key={each}>
              <input type="radio" name="way" checked={way === each} onChange={() => setWay(each)} />
              {each === "password" ? "a password" : "an API key"}
            </label>
          ))}
        </fieldset>
        {way === "password" ? (
          <>
            <label for="user">User</label>
            <input
              ref={first}
              id="user"
              name="user"
              autocomplete="username"
              autocapitalize="none"
              spellcheck={false}
              required
            />
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required />
          </>
        ) : (
          <>
            <label for="key">API key</label>
            <input ref={first} id="key" name="key" type="password" autocomplete="off" required />
          </>
        )}
        <label class="flag">
          <input type="checkbox" name="keep" />
          Stay logged in until this tab is closed
        </label>
        <button type="submit" class="main" disabled={isBusy}>
          Log in
        </button>
        {problem !== undefined && <Failure problem={problem} />}
      </form>
    </main>
  );
}
