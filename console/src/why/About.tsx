// What can be asked about answers: a sentence and a form for each.

import { go, to } from "../session/address.ts";
import type { ViewProps } from "../session/session.ts";
import { ChangesForm } from "./ChangesForm.tsx";
import { FactForm } from "./FactForm.tsx";
import { QueryForm } from "./QueryForm.tsx";

export function About({ session }: ViewProps) {
  return (
    <div class="why-about">
      <section class="panel">
        <h2>Why</h2>
        <p>Answers a query, and explains each row: the rules and stored facts that it follows from.</p>
        <QueryForm q="" onAsk={(asked) => go(to("why", ["row"], asked))} />
      </section>
      <section class="panel">
        <h2>Why not</h2>
        <p>
          Says why a fact does not hold: how far each rule comes, what is near to it, and with which facts it
          would.
        </p>
        <FactForm session={session} fact="" onAsk={(fact) => go(to("why", ["not"], { fact }))} />
      </section>
      <section class="panel">
        <h2>What if</h2>
        <p>Supposes changes, and tells which rows of a query would come and go.</p>
        <ChangesForm
          changes=""
          q=""
          label="Suppose"
          onAsk={(changes, q) => go(to("why", ["if"], { changes, q }))}
        />
      </section>
      <section class="panel">
        <h2>Impact</h2>
        <p>Supposes changes, and tells what of all that rules derive would come and go.</p>
        <ChangesForm
          changes=""
          label="Show the impact"
          onAsk={(changes) => go(to("why", ["impact"], { changes }))}
        />
      </section>
    </div>
  );
}
