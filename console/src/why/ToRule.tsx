// A rule as a link to the rules of its relation, if these are of the graph: those of the session have no
// place of their own.

import type { ComponentChildren } from "preact";
import { to } from "../session/address.ts";
import type { Session } from "../session/session.ts";

interface ToRuleProps {
  session: Session;
  relation: string;
  tab?: number;
  children: ComponentChildren;
}

export function ToRule({ session, relation, tab = 0, children }: ToRuleProps) {
  if (session.catalog.value.relations.get(relation)?.isDerived !== true) return <>{children}</>;
  return (
    <a class="to-rule" href={to("rules", [relation])} tabIndex={tab}>
      {children}
    </a>
  );
}
