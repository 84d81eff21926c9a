// What stands where nothing is yet: how somebody who may would begin, with a program to open in the editor.

import type { ComponentChildren } from "preact";
import { to } from "../session/address.ts";
import { Code } from "./Code.tsx";

export function Example({ program, children }: { program: string; children: ComponentChildren }) {
  return (
    <>
      <p>{children}</p>
      <pre>
        <Code text={program} />
      </pre>
      <p>
        <a class="button" href={to("ask", ["table"], { q: program })}>
          Open it in the editor
        </a>
      </p>
    </>
  );
}
