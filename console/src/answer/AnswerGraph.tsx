// An answer as a graph: two columns are nodes, each row an edge between them.
//
// The places of the nodes, and neighbours that somebody has asked for, stay with the answer for as long as that is there.

import type { Result } from "@stratalog/client";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { seen } from "../parts/Cell.tsx";
import { Failure } from "../parts/Failure.tsx";
import { count, counted } from "../parts/text.ts";
import type { Session } from "../session/session.ts";
import "./chart.css";
import { Choice } from "./Choice.tsx";
import { save } from "./export/save.ts";
import "./graph-picture.css";
import type { Board } from "./picture/Board.ts";
import { type Found, neighbours, originOf } from "./picture/expand.ts";
import { NodeDetail } from "./picture/NodeDetail.tsx";
import { NodeList } from "./picture/NodeList.tsx";
import { type Ends, endsOf, type Network, networkOf } from "./picture/network.ts";
import { Picture } from "./picture/Picture.tsx";
import type { Known } from "./picture/start.ts";
import { svgOf } from "./picture/svg.ts";
import { useColours } from "./useColours.ts";

interface AnswerGraphProps {
  session: Session;
  answer: Result;
  /** The program that it is the answer to: neighbours can be asked for if its query is a goal of a relation. */
  program?: string;
  /** What was chosen: `from`, `to`, `label` and `edges`; what is missing is guessed. Others are left as they are. */
  values: Readonly<Record<string, string>>;
  onValues: (next: Record<string, string>) => void;
}

const LIMITS = ["500", "1000", "2000", "5000", "10000", "20000"] as const;
const LIMIT = "5000";
/** So many neighbours are asked for in each direction, and four times as many whenever more are wanted. */
const NEIGHBOURS = 50;

/** What was asked for beyond the answer, by the keys of the nodes. */
type Growth = ReadonlyMap<string, Found & { readonly most: number }>;

/** What an answer keeps while another view of it is shown. */
const kept = new WeakMap<Result, { known: Known; growth: Growth }>();

export function AnswerGraph(props: AnswerGraphProps) {
  const ends = useEnds(props.answer, props.values);
  return ends === undefined ? (
    <p class="quiet">A graph takes two columns.</p>
  ) : (
    <Graph key={keyOf(props.answer)} {...props} ends={ends} />
  );
}

function Graph({ session, answer, program, values, onValues, ends }: AnswerGraphProps & { ends: Ends }) {
  const colours = useColours();
  const board = useRef<Board | undefined>(undefined);
  const [growth, setGrowth] = useState<Growth>(() => kept.get(answer)?.growth ?? new Map());
  const [chosenKey, setChosenKey] = useState<string>();
  const [asking, setAsking] = useState<string>();
  const [problem, setProblem] = useState<unknown>();
  const gone = useRef<AbortController>(null);

  const limit = LIMITS.find((each) => each === values["edges"]) ?? LIMIT;
  const network = useMemo(() => {
    const further = [...growth.values()].flatMap(({ answers }) => answers);
    return networkOf(answer, ends, Number(limit), further, seen);
  }, [answer, ends, limit, growth]);
  const shown = useRef(growth);
  const hasGrown = shown.current !== growth;
  useEffect(() => {
    shown.current = growth;
  }, [growth]);

  const catalog = session.catalog.value;
  const origin = useMemo(
    () => (program === undefined ? undefined : originOf(program, ends, catalog)),
    [program, ends, catalog],
  );
  const chosen = chosenKey === undefined ? undefined : network.places.get(chosenKey);
  const isGrown = useCallback(
    (node: number) => growth.has(network.nodes[node]?.key ?? ""),
    [network, growth],
  );

  const onBoard = (now: Board | undefined) => {
    if (now === undefined && board.current !== undefined) {
      kept.set(answer, { known: board.current.known, growth: shown.current });
    }
    board.current = now;
  };
  useEffect(() => {
    gone.current = new AbortController();
    return () => gone.current?.abort();
  }, []);

  const choose = (node: number | undefined) => {
    setProblem(undefined);
    setChosenKey(node === undefined ? undefined : network.nodes[node]?.key);
  };
  // Whoever chooses a node beside the picture wants to see it there; one in the picture stays below the hand.
  const show = (node: number | undefined) => {
    choose(node);
    if (node !== undefined) board.current?.reveal(node);
  };
  const expand = async (node: number) => {
    const found = network.nodes[node];
    const signal = gone.current?.signal;
    if (found === undefined || signal === undefined) return;
    choose(node);
    const before = growth.get(found.key);
    if (origin === undefined || asking !== undefined || before?.further === 0) return;
    const most = before === undefined ? NEIGHBOURS : before.most * 4;
    setAsking(found.key);
    try {
      const answers = await neighbours(session.looking, origin, ends, found, most, signal);
      setGrowth((now) => new Map([...now, [found.key, { ...answers, most }]]));
    } catch (failure) {
      if (!signal.aborted) setProblem(failure);
    } finally {
      setAsking(undefined);
    }
  };
  const savePng = async () => {
    try {
      if (board.current !== undefined) save("graph.png", [await board.current.png()], "image/png");
    } catch (failure) {
      setProblem(failure);
    }
  };
  const saveSvg = () => {
    if (board.current === undefined) return;
    save("graph.svg", [svgOf(network, board.current.places, colours)], "image/svg+xml");
  };

  return (
    <section class="graph-answer" aria-label="Graph">
      <Choices answer={answer} ends={ends} limit={limit} values={values} onValues={onValues} />
      <p class="graph-says quiet" role="status">
        {sentenceOf(answer, network, growth)}
      </p>
      {problem !== undefined && chosen === undefined && <Failure problem={problem} />}
      <div class="graph-parts">
        <Picture
          network={network}
          hasGrown={hasGrown}
          known={kept.get(answer)?.known}
          colours={colours}
          chosen={chosen}
          isGrown={isGrown}
          onChoose={choose}
          onExpand={(node) => void expand(node)}
          onBoard={onBoard}
        >
          <button type="button" onClick={() => void savePng()}>
            PNG
          </button>
          <button type="button" onClick={saveSvg}>
            SVG
          </button>
        </Picture>
        <div class="graph-side">
          <NodeList
            network={network}
            chosen={chosen}
            onChoose={show}
            onExpand={(node) => void expand(node)}
          />
          {chosen !== undefined && (
            <NodeDetail
              network={network}
              node={chosen}
              relation={origin && seen(origin.relation)}
              further={growth.get(chosenKey ?? "")?.further}
              isAsking={asking !== undefined}
              problem={problem}
              onChoose={show}
              onExpand={(node) => void expand(node)}
            />
          )}
        </div>
      </div>
    </section>
  );
}

interface ChoicesProps extends Pick<AnswerGraphProps, "answer" | "values" | "onValues"> {
  ends: Ends;
  limit: string;
}

function Choices({ answer, ends, limit, values, onValues }: ChoicesProps) {
  const columns = answer.columns.map(({ name }) => ({ value: name, title: seen(name) }));
  const nameAt = (place: number | undefined) =>
    place === undefined ? "" : (answer.columns[place]?.name ?? "");
  const change = (name: string) => (value: string) => onValues({ ...values, [name]: value });
  const limits = LIMITS.map((each) => ({ value: each, title: count(Number(each)) }));
  return (
    <div class="graph-choices">
      <Choice label="From" value={nameAt(ends.from)} options={columns} onChange={change("from")} />
      <Choice label="To" value={nameAt(ends.to)} options={columns} onChange={change("to")} />
      <Choice
        label="Label"
        value={nameAt(ends.label)}
        options={[{ value: "", title: "none" }, ...columns]}
        onChange={change("label")}
      />
      <Choice label="Edges at most" value={limit} options={limits} onChange={change("edges")} />
    </div>
  );
}

/** The columns, as long as they are the same. */
function useEnds(answer: Result, values: Readonly<Record<string, string>>): Ends | undefined {
  const { from, to, label } = values;
  return useMemo(() => endsOf(answer, values), [answer, from, to, label]);
}

/** How much of the answer is in the picture. */
function sentenceOf(answer: Result, network: Network, growth: Growth): string {
  const all = Math.max(answer.totalCount, answer.rowCount) - network.without;
  const edges =
    network.taken < all ? `${count(network.taken)} of ${counted(all, "edge")}` : counted(all, "edge");
  const parts = [`${edges}, ${counted(network.nodes.length, "node")}.`];
  if (growth.size > 0) parts.push(`With the neighbours of ${counted(growth.size, "node")}.`);
  if (network.without > 0) parts.push(`Left out: ${counted(network.without, "row")} with a null.`);
  return parts.join(" ");
}

let numbers = 0;
const numbered = new WeakMap<Result, number>();

/** Another answer is another graph: nothing of the one before stays. */
function keyOf(answer: Result): number {
  const known = numbered.get(answer);
  if (known !== undefined) return known;
  numbers += 1;
  numbered.set(answer, numbers);
  return numbers;
}
