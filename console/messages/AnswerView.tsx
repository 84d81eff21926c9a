// An answer for people.

import { useEffect, useMemo } from "preact/hooks";
import { Failure, Finding } from "../src/parts/Failure.tsx";
import { count, counted } from "../src/parts/text.ts";
import type { Answer } from "./answers.ts";
import { MOST_ROWS } from "./rows.ts";
import { Cells, Table } from "./Table.tsx";
import { Text } from "./Text.tsx";

export function AnswerView({ answer }: { answer: Answer }) {
  switch (answer.kind) {
    case "said":
      return (
        <p class={answer.looks} role={answer.looks === "problem" ? "alert" : undefined}>
          {answer.text}
        </p>
      );
    case "table":
      return <ResultTable {...answer} />;
    case "file":
      return <ArrowFile {...answer} />;
    case "failed":
      return <Failure problem={answer.problem} />;
    case "found":
      return <Findings {...answer} />;
    case "other":
      return <Text text={answer.text} />;
  }
}

function Findings({ findings, program }: Extract<Answer, { kind: "found" }>) {
  return (
    <>
      {findings.map((finding, number) => (
        <Finding key={number} finding={finding} code={finding.code} program={program} />
      ))}
    </>
  );
}

function ResultTable({ about, rows }: Extract<Answer, { kind: "table" }>) {
  const origins = about.row_provenance ?? [];
  const hasOrigins = origins.length > 0;
  return (
    <>
      {about.switched_kg !== undefined && (
        <p class="good">The session is now on the graph {about.switched_kg}.</p>
      )}
      {(about.metadata?.warnings ?? []).map((warning, number) => (
        <p key={number} class="warning">
          Warning: {warning}
        </p>
      ))}
      <Table
        label="Result"
        columns={hasOrigins ? [...about.columns, "from"] : about.columns}
        caption={captionOf({ about, rows })}
      >
        {rows.slice(0, MOST_ROWS).map((row, number) => (
          <tr key={number}>
            <Cells row={row} />
            {hasOrigins && <td class="quiet">{origins[number]}</td>}
          </tr>
        ))}
      </Table>
    </>
  );
}

function captionOf({ about, rows }: Pick<Extract<Answer, { kind: "table" }>, "about" | "rows">): string {
  const parts = [counted(about.row_count, "row")];
  if (about.truncated) parts.push(`of ${count(about.total_count)}`);
  if (rows.length < about.row_count || rows.length > MOST_ROWS)
    parts.push(`(the first ${MOST_ROWS} are shown)`);
  return `${parts.join(" ")} in ${about.execution_time_ms} ms`;
}

function ArrowFile({ file, rowCount }: Extract<Answer, { kind: "file" }>) {
  const address = useMemo(() => URL.createObjectURL(file), [file]);
  useEffect(() => () => URL.revokeObjectURL(address), [address]);
  return (
    <p class="good">
      {counted(rowCount, "row")} as an Arrow stream of {counted(file.size, "byte")}.{" "}
      <a href={address} download="result.arrows">
        Save it as a file
      </a>
    </p>
  );
}
