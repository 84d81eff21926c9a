// What went wrong, with the place in the program and what to do.

import { type Diagnostic, StratalogError } from "@stratalog/client";

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
  code: string;
  program: string | undefined;
  onPlace: ((offset: number) => void) | undefined;
}

function Finding({ finding, code, program, onPlace }: FindingProps) {
  const { severity, message, help, span } = finding;
  return (
    <div class={`finding ${severity}`}>
      <p class="failure-message">
        <span class="tag">{severity === "error" ? finding.code || code : severity}</span> {message}
      </p>
      {span !== undefined && program !== undefined && (
        <pre class="excerpt">
          <span class="quiet">{`${span.line} │ `}</span>
          <Marked line={program.split("\n")[span.line - 1] ?? ""} column={span.column} length={span.length} />
        </pre>
      )}
      {span !== undefined && onPlace !== undefined && (
        <button type="button" class="link" onClick={() => onPlace(span.offset)}>
          line {span.line}, column {span.column}
        </button>
      )}
      {help !== undefined && <p class="help">{help}</p>}
    </div>
  );
}

/** A line with a place in it marked. Columns count characters, the length bytes. */
function Marked({ line, column, length }: { line: string; column: number; length: number }) {
  const signs = [...line];
  const before = signs.slice(0, column - 1).join("");
  let after = column - 1;
  for (let bytes = 0; bytes < length && after < signs.length; after += 1) {
    bytes += new TextEncoder().encode(signs[after]).length;
  }
  return (
    <>
      {before}
      <mark>{signs.slice(column - 1, after).join("") || " "}</mark>
      {signs.slice(after).join("")}
    </>
  );
}
