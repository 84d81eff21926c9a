// Where one connects and logs in, each also without the other.

import type { Signal } from "@preact/signals";
import type { InputHTMLAttributes } from "preact";
import type { Page, Way } from "./page.ts";

const WAYS: readonly [Way, string][] = [
  ["login", "user and password"],
  ["authenticate", "API key"],
];

export function ConnectPanel({ page }: { page: Page }) {
  const way = page.way.value;
  const enter = (event: Event) => {
    event.preventDefault();
    page.enter();
  };
  return (
    <details
      class="panel"
      id="connect"
      open={page.isConnecting.value}
      onToggle={(event) => {
        page.isConnecting.value = event.currentTarget.open;
      }}
    >
      <summary>
        <h2>Connect and log in</h2>
      </summary>
      <form id="connect-form" onSubmit={enter}>
        <div class="row">
          <div class="wide">
            <label for="address">Address</label>
            <Input id="address" text={page.address} autocomplete="off" required />
          </div>
          <div>
            <label for="kg">Graph</label>
            <Input id="kg" text={page.kg} placeholder="default" autocomplete="off" />
          </div>
        </div>
        <fieldset>
          <legend>Credentials</legend>
          <div class="choice">
            {WAYS.map(([each, words]) => (
              <label key={each}>
                <input
                  type="radio"
                  name="how"
                  value={each}
                  checked={way === each}
                  onChange={() => {
                    page.way.value = each;
                  }}
                />
                {words}
              </label>
            ))}
          </div>
          <div class="row" hidden={way !== "login"}>
            <div>
              <label for="user">User</label>
              <Input id="user" text={page.user} autocomplete="username" />
            </div>
            <div>
              <label for="password">Password</label>
              <Input id="password" text={page.password} type="password" autocomplete="off" />
            </div>
          </div>
          <div hidden={way !== "authenticate"}>
            <label for="api-key">API key</label>
            <Input id="api-key" text={page.key} type="password" autocomplete="off" />
          </div>
        </fieldset>
        {page.wrongAddress.value !== "" && (
          <p class="problem" role="alert">
            {page.wrongAddress.value}
          </p>
        )}
        <div class="buttons">
          <button type="submit" class="main">
            Connect and log in
          </button>
          <button type="button" id="only-connect" onClick={() => page.connect()}>
            Connect only
          </button>
          <button
            type="button"
            id="disconnect"
            disabled={page.state.value === "closed"}
            onClick={() => page.disconnect()}
          >
            Disconnect
          </button>
        </div>
      </form>
    </details>
  );
}

/** A line to type into, which is kept by a signal. */
function Input({ text, ...others }: { text: Signal<string> } & InputHTMLAttributes) {
  return (
    <input
      {...others}
      spellcheck={false}
      value={text.value}
      onInput={(event) => {
        text.value = event.currentTarget.value;
      }}
    />
  );
}
