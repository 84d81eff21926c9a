// The views to choose from. What one may not do is not offered.

import { to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { VIEWS } from "./views.ts";

export function Navigation({ session, current }: { session: Session; current: string }) {
  return (
    <nav class="views" aria-label="Views">
      {VIEWS.filter(({ isFor }) => isFor?.(session) ?? true).map(({ name, title, sign }) => (
        <a key={name} href={to(name)} aria-current={name === current ? "page" : undefined}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d={sign} />
          </svg>
          {title}
        </a>
      ))}
    </nav>
  );
}
