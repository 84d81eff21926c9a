// What went wrong, with the place in the program and what to do.

import { type Diagnostic, type Span, StratalogError } from "@stratalog/client";
import { type MarkedLine, markedLines } from "#client/excerpt.ts";
import { count } from "./text.ts";

/** Shows an error. `onPlace` is told the place in the program that somebody has chosen, in bytes. */
export function Failure({ problem, onPlace }: { problem: unknown; onPlace?: (offset: number) => void }) {
  if (!(problem instanceof StratalogError)) {
    return (
      <section class="failure" role="alert">
        <p class="failure-message">{String(problem)}</p>
      </section>
    );
  }
  const only: Diagnostic = {
    severity: "error",
    code: problem.code,
    message: problem.message,
    span: problem.span,
    help: problem.help,
  };
  const findings = problem.diagnostics.length > 0 ? problem.diagnostics : [only];
  return (
    <section class="failure" role="alert">
      {findings.every((finding) => finding.message !== problem.message) && (
        <p class="failure-message">{problem.message}</p>
      )}
      {findings.map((finding, number) => (
        <Finding
          key={number}
          finding={finding}
          code={problem.code}
          program={problem.program}
          onPlace={onPlace}
        />
      ))}
      {problem.limit !== undefined && (
        <p class="quiet">
          Limit {problem.limit.name}: {count(problem.limit.value)}
        </p>
      )}
      {problem.uncertain && (
        <p class="quiet">It may have taken effect or not: look before you send it again.</p>
      )}
      {problem.retryAfter !== undefined && (
        <p class="quiet">Try again in {Math.ceil(problem.retryAfter / 1000)} s.</p>
      )}
    </section>
  );
}

interface FindingProps {
  finding: Diagnostic;
  /** The code of an error that has none of its own. */
  code: string;
  program: string | undefined;
  onPlace?: ((offset: number) => void) | undefined;
}

/** One thing that was found in a program. */
export function Finding({ finding, code, program, onPlace }: FindingProps) {
  const { severity, message, help, span } = finding;
  const lines = markedLines(program, finding);
  return (
    <div class={`finding ${severity}`}>
      <p class="failure-message">
        <code class="tag">{severity === "error" ? finding.code || code : severity}</code> {message}
        {span !== undefined && onPlace === undefined && <span class="quiet"> {wordsOf(span)}</span>}
      </p>
      {lines.length > 0 && (
        <pre class="excerpt">
          {lines.map((line, number) => (
            <Marked key={number} {...line} />
          ))}
        </pre>
      )}
      {span !== undefined && onPlace !== undefined && (
        <button type="button" class="link" onClick={() => onPlace(span.offset)}>
          {wordsOf(span)}
        </button>
      )}
      {help !== undefined && <p class="help">{help}</p>}
    </div>
  );
}

/** A line with a place in it marked, and below it what the place contributes. */
function Marked({ line, before, at, after, isCause, text }: MarkedLine) {
  const place = at || " ";
  return (
    <div>
      <span class="quiet">{`${line} │ `}</span>
      {before}
      {isCause ? <mark>{place}</mark> : <u>{place}</u>}
      {after}
      {text !== "" && <div class="quiet">{text}</div>}
    </div>
  );
}

function wordsOf({ line, column }: Span): string {
  return `line ${line}, column ${column}`;
}
