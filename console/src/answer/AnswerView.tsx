// What came of a program: its rows as a table, a chart or a picture, what it has to say, or why it failed.

import type { Result } from "@stratalog/client";
import { seen } from "../parts/Cell.tsx";
import { Tabs } from "../parts/Tabs.tsx";
import { count, counted, duration } from "../parts/text.ts";
import { questionOf } from "../program/question.ts";
import { tellsASecret } from "../program/secrets.ts";
import { address, rename, to } from "../session/address.ts";
import type { Session } from "../session/session.ts";
import { toRow } from "../why/links.ts";
import { AnswerTable } from "./AnswerTable.tsx";
import "./answer.css";
import { Later } from "./Later.tsx";

interface AnswerViewProps {
  session: Session;
  answer: Result;
  program: string;
  /** The JSON of its parameters, if it has any. */
  p: string | undefined;
}

const WAYS = [
  { name: "table", title: "Table" },
  { name: "chart", title: "Chart" },
  { name: "graph", title: "Graph" },
];

const chart = async () => (await import("./AnswerChart.tsx")).AnswerChart;
const graph = async () => (await import("./AnswerGraph.tsx")).AnswerGraph;

export function AnswerView({ session, answer, program, p }: AnswerViewProps) {
  const { parts, values } = address.value;
  const way = parts[0] ?? "table";
  const isSecret = tellsASecret(program);
  const whyOf = (row: number) =>
    toRow(
      { program: isSecret ? (questionOf(program)?.query ?? "") : program, p },
      { types: answer.types, values: answer.row(row), place: row },
    );
  const { q: _, p: __, ...own } = values;
  const about: Record<string, string> = isSecret ? {} : { q: program, ...(p === undefined ? {} : { p }) };
  const onValues = (next: Record<string, string>) => rename(to("ask", [way], { ...next, ...about }));
  const isListing = answer.messages.length === 0;
  const tabs = WAYS.map((each) => ({ ...each, href: to("ask", [each.name], about) }));
  return (
    <section class="answer" aria-label="Answer">
      {answer.warnings.map((warning) => (
        <p key={warning} class="notice">
          {seen(warning)}
        </p>
      ))}
      {isListing ? (
        <>
          <div class="answer-head">
            <Tabs label="Ways to see the answer" tabs={tabs} current={way} />
            <Summary answer={answer} />
          </div>
          {way === "chart" ? (
            <Later load={chart} answer={answer} values={own} onValues={onValues} />
          ) : way === "graph" ? (
            <Later
              load={graph}
              answer={answer}
              program={program}
              values={own}
              onValues={onValues}
              session={session}
            />
          ) : (
            // Order and filter are of this answer alone.
            <AnswerTable key={answer} answer={answer} whyOf={whyOf} />
          )}
        </>
      ) : (
        <Messages answer={answer} />
      )}
    </section>
  );
}

/** How many rows, of how many, and how long it took. */
function Summary({ answer }: { answer: Result }) {
  const { rowCount, totalCount, elapsedMs, version } = answer;
  return (
    <p class="summary" role="status">
      {rowCount < totalCount ? (
        <strong>
          {count(rowCount)} of {count(totalCount)} rows
        </strong>
      ) : (
        counted(rowCount, "row")
      )}{" "}
      <span class="quiet">
        · {duration(elapsedMs)}
        {version !== undefined && ` · version ${count(version)}`}
      </span>
    </p>
  );
}

function Messages({ answer }: { answer: Result }) {
  return (
    <div class="panel messages" role="status">
      <ul>
        {answer.messages.map((message, number) => (
          <li key={number}>
            <bdi>{seen(message)}</bdi>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {duration(answer.elapsedMs)}
        {answer.version !== undefined && ` · version ${count(answer.version)}`}
      </p>
    </div>
  );
}
