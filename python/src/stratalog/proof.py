"""Answers about answers: proofs of `.why`, and what `.why_not` finds, as objects and as text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from .extras import extra
from .programs import before_query
from .result import Result, Row

if TYPE_CHECKING:
    import networkx

#: So many inputs of an aggregate stand in a line of text.
_INPUTS = 4
#: Below this many levels, a notebook shows a proof folded.
_OPEN_LEVELS = 3


class ProofNode:
    """A fact in a proof, or what stands in the place of one."""

    def __init__(self, name: str, proof: Proof) -> None:
        self._proof = proof
        #: Its id in the proof, `n0` and so on.
        self.id = name
        #: Everything that the server said of it: docs/why.md tells what it means.
        self.data: Mapping[str, Any] = proof.data["nodes"][name]
        #: `fact`, `rule`, `aggregate`, `negation`, `vector_search`, `truncated` or `why_not`.
        self.kind = str(self.data["kind"])
        #: The relation; `?` for the query itself.
        self.relation = str(self.data["conclusion"]["pred"])
        #: Its values.
        self.args: Row = tuple(self.data["conclusion"]["args"])
        #: The rule that derives it, if one does.
        self.rule: str | None = self.data.get("rule_id")
        #: The values of the rule's variables.
        self.bindings: dict[str, Any] = dict(self.data.get("bindings", {}))
        #: How many rules the smallest proof applies one after the other.
        self.height = int(self.data.get("height", 0))
        #: In how many other ways rules derive the same.
        self.alternatives = int(self.data.get("alternatives", 0))
        #: Of a row that was the best of its group for a while only: the value that took the place of its own.
        self.replaced_by: Any = self.data.get("replaced_by")
        #: Whether it is a fact of the session, which nobody else sees.
        self.of_session = self.data.get("source") == "session"

    @property
    def children(self) -> list[ProofNode]:
        """What it follows from, in the order of the rule's conditions."""
        return [self._proof.node(name) for name in self.data.get("children", [])]

    @property
    def fact(self) -> str:
        """It as a program would write it."""
        if self.kind == "negation":
            return "no " + str(self.data["negation"]["pattern"]).removeprefix("!")
        return f"{self.relation}({', '.join(map(_written, self.args))})"

    @property
    def note(self) -> str:
        """Why it holds, in a few words."""
        text = ""
        match self.kind:
            case "fact" if self.of_session:
                text = "of this session"
            case "rule":
                text = f"by {self.rule}"
            case "aggregate":
                every = self.data.get("aggregates") or [self.data["aggregate"]]
                text = f"by {self.rule}; {'; '.join(map(_aggregated, every))}"
            case "vector_search":
                search = self.data["vector_search"]
                text = f"found by {search['index_name']} at {_written(search['distance'])}"
            case "truncated":
                text = f"goes on: .why ?{self.fact}"
        if self.replaced_by is not None:
            text += f"; replaced by {_written(self.replaced_by)} later"
        if self.alternatives:
            ways = "way" if self.alternatives == 1 else "ways"
            text += f" (and {self.alternatives} other {ways})"
        return text

    def __repr__(self) -> str:
        return f"ProofNode({self.fact}{'  ' if self.note else ''}{self.note})"


class Proof:
    """Why one row is an answer. `print` it; a notebook shows a tree that folds."""

    def __init__(self, data: Mapping[str, Any], columns: Sequence[str] = ()) -> None:
        #: Everything that the server said: docs/why.md tells what it means.
        self.data = data
        self._columns = list(columns)
        self._nodes: dict[str, ProofNode] = {}

    def node(self, name: str) -> ProofNode:
        """The node of an id."""
        if name not in self._nodes:
            self._nodes[name] = ProofNode(name, self)
        return self._nodes[name]

    @property
    def roots(self) -> list[ProofNode]:
        """Where to begin: one node, or one for each proof where several were asked for."""
        return [self.node(name) for name in self.data["roots"]]

    @property
    def nodes(self) -> list[ProofNode]:
        """All nodes, each once."""
        return [self.node(name) for name in self.data["nodes"]]

    @property
    def base_facts(self) -> list[tuple[str, Row]]:
        """The stored facts that all of it rests on, each once: relation and values."""
        facts = map(self.node, self.data.get("base_facts", []))
        return [(node.relation, node.args) for node in facts]

    def to_networkx(self) -> networkx.DiGraph[str]:
        """A networkx graph: an edge leads from a node to each that it follows from."""
        with extra("networkx"):
            import networkx as nx

        graph: networkx.DiGraph[str] = nx.DiGraph()
        for node in self.nodes:
            graph.add_node(
                node.id, label=self._title(node), kind=node.kind, rule=node.rule, height=node.height
            )
        graph.add_edges_from((node.id, child.id) for node in self.nodes for child in node.children)
        return graph

    def __str__(self) -> str:
        lines: list[str] = []
        drawn: set[str] = set()
        for place, root in enumerate(self.roots):
            if place:
                lines.append("or")
            self._draw(root, lines, drawn)
        return "\n".join(lines)

    __repr__ = __str__

    def _draw(self, root: ProofNode, lines: list[str], drawn: set[str]) -> None:
        # Proofs may be deep: what is still to be drawn is a list, not a call in a call.
        still = [(root, "", "")]
        while still:
            node, first, rest = still.pop()
            again = bool(node.children) and node.id in drawn
            drawn.add(node.id)
            note = "above" if again else node.note
            lines.append(f"{first}{self._title(node)}{'  ' if note else ''}{note}")
            if again:
                continue
            last = len(node.children) - 1
            for place, child in reversed(list(enumerate(node.children))):
                mark, more = ("└─ ", "   ") if place == last else ("├─ ", "│  ")
                still.append((child, rest + mark, rest + more))

    def _repr_html_(self) -> str:
        drawn: set[str] = set()
        trees = "<p>or</p>".join(self._tree(root, drawn) for root in self.roots)
        return f'<div style="font-family:monospace;font-size:13px">{trees}</div>'

    def _tree(self, root: ProofNode, drawn: set[str]) -> str:
        parts: list[str] = []
        still: list[tuple[ProofNode, int] | str] = [(root, 0)]
        while still:
            step = still.pop()
            if isinstance(step, str):
                parts.append(step)
                continue
            node, level = step
            again = bool(node.children) and node.id in drawn
            drawn.add(node.id)
            note = "above" if again else node.note
            text = f"<b>{escape(self._title(node))}</b> <span style='opacity:.6'>{escape(note)}</span>"
            style = ' style="margin-left:1.5em"' if level else ""
            if again or not node.children:
                parts.append(f"<div{style}>{text}</div>")
                continue
            opened = " open" if level < _OPEN_LEVELS else ""
            parts.append(f"<details{opened}{style}><summary>{text}</summary>")
            still.append("</details>")
            still += [(child, level + 1) for child in reversed(node.children)]
        return "".join(parts)

    def _title(self, node: ProofNode) -> str:
        """A fact; the query has no name, but its columns have."""
        if node.relation != "?" or node.kind == "negation":
            return node.fact
        columns = self._columns or [f"column {place + 1}" for place in range(len(node.args))]
        return ", ".join(
            f"{name} = {_written(value)}" for name, value in zip(columns, node.args, strict=False)
        )


class Why:
    """The rows of an answer with a proof of each."""

    def __init__(self, result: Result) -> None:
        #: The answer without proofs.
        self.result = result

    @cached_property
    def proofs(self) -> list[Proof]:
        """A proof of each row, in the order of the rows."""
        trees = self.result.extra.get("proof_trees", [])
        return [Proof(tree, self.result.columns) for tree in trees]

    def __len__(self) -> int:
        return len(self.proofs)

    def __getitem__(self, place: int) -> Proof:
        return self.proofs[place]

    def __iter__(self) -> Iterator[Proof]:
        return iter(self.proofs)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.proofs)) or "no rows, so nothing to explain: ask why_not"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "<hr>".join(proof._repr_html_() for proof in self.proofs) or f"<p>{escape(str(self))}</p>"


class WhyNot:
    """Why a fact does not hold, or that it does. `print` it."""

    def __init__(self, result: Result) -> None:
        #: The explanation, a line each.
        self.lines = [str(row[0]) for row in result]
        trees = result.extra.get("proof_trees", [])
        #: The same as a tree; where the fact holds, a proof of it.
        self.proof = Proof(trees[0]) if trees else None

    @property
    def holds(self) -> bool:
        """Whether the fact holds after all."""
        return self.proof is not None and all(root.kind != "why_not" for root in self.proof.roots)

    @property
    def would_hold_with(self) -> list[tuple[str, Row]]:
        """The fewest stored facts that were found with which it would hold: relation and values."""
        facts = self.proof.data.get("would_hold_with", []) if self.proof else []
        return [(str(fact["pred"]), tuple(fact["args"])) for fact in facts]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _written(value: object) -> str:
    """A value as a program would write it."""
    match value:
        case list():
            return f"[{', '.join(map(_written, value))}]"
        case None | bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return repr(value)


def _aggregated(proof: Mapping[str, Any]) -> str:
    columns = list(proof["input_columns"])
    shown: list[str] = []
    if proof["value_var"] in columns:
        place = columns.index(proof["value_var"])
        shown = [_written(row[place]) for row in proof["sample_inputs"][:_INPUTS]]
    count = int(proof["contributing_count"])
    more = ", …" if count > len(shown) else ""
    of = f": {', '.join(shown)}{more}" if shown else ""
    return f"{proof['fn']}<{proof['value_var']}> = {_written(proof['result'])} of {count}{of}"


def why_program(text: str, word: str) -> str:
    """The command that asks why rows are an answer; rules and facts may stand in front of the query."""
    return before_query(text, f".{word} ")


def why_word(full: bool, all_proofs: bool) -> str:
    """Its words."""
    if full and all_proofs:
        raise ValueError("ask for all inputs of aggregates, or for all proofs")
    return "why full" if full else "why all" if all_proofs else "why"


def what_if_program(changes: str, query: str) -> str:
    """The command that asks what changes would change: of a query, or of everything."""
    # Lines that are set in belong to the command.
    lines = [line.strip() for line in [*changes.splitlines(), *query.splitlines()] if line.strip()]
    return "\n  ".join([".what_if" if query.strip() else ".impact", *lines])
