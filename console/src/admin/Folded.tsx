// A program in a list: a long one is cut, and can be folded out.

import { seen } from "../parts/Cell.tsx";
import { Code } from "../parts/Code.tsx";

/** Of a longer one, so many signs are shown. */
const SHORT = 90;

export function Folded({ text }: { text: string }) {
  const signs = [...text];
  const whole = (
    <bdi>
      <Code text={seen(text)} />
    </bdi>
  );
  if (signs.length <= SHORT) return whole;
  return (
    <details class="folded">
      <summary>
        <bdi>
          <Code text={seen(`${signs.slice(0, SHORT).join("")}…`)} />
        </bdi>
      </summary>
      {whole}
    </details>
  );
}
