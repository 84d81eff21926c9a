"""How a query is answered: the plan of `.explain` and `.profile`, as text, data, and drawn in a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from .programs import before_query
from .result import Result


class Plan:
    """A plan. `print` it; a notebook shows strata and rules that fold."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        #: Everything that the server said: docs/plans.md tells what it means.
        self.data = data

    @property
    def measured(self) -> bool:
        """Whether the query ran, so that the plan has times."""
        return "answer" in self.data

    def __str__(self) -> str:
        lines = [*self._place(), *(f"kept {kept}" for kept in self._kept())]
        for stratum in self.data["strata"]:
            lines.append(_title(stratum))
            for rule in stratum["rules"]:
                lines.append(f"  {_rule_title(rule)}")
                lines += [f"    {_step(step)}" for step in rule["steps"]]
        if self.measured:
            lines.append(f"answer: {self.data['answer']['rows']} rows, {_time(self.data['answer'])}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        slowest = max(
            (
                step.get("time_ms") or 0.0
                for stratum in self.data["strata"]
                for rule in stratum["rules"]
                for step in rule["steps"]
            ),
            default=0.0,
        )
        parts = [f"<p>{escape(place)}</p>" for place in self._place()]
        parts += [f"<p>kept {escape(kept)}</p>" for kept in self._kept()]
        parts += [_stratum_html(stratum, slowest) for stratum in self.data["strata"]]
        if self.measured:
            parts.append(f"<p>{self.data['answer']['rows']} rows, {_time(self.data['answer'])}</p>")
        return f'<div style="font-family:monospace;font-size:13px">{"".join(parts)}</div>'

    def _place(self) -> list[str]:
        """Where it is evaluated, and why, where there is a choice."""
        return [self.data["place"]] if "place" in self.data else []

    def _kept(self) -> list[str]:
        """Derived relations whose rows are left from an earlier question."""
        return [f"{relation['name']} ({relation['measured_rows']} rows)" for relation in self.data["kept"]]


def plan_program(text: str, profile: bool) -> str:
    """The command that asks for the plan of a query."""
    return before_query(text, f".{'profile' if profile else 'explain'} json ")


def read_plan(result: Result) -> Plan:
    """The plan in the answer to that command."""
    return Plan(json.loads(result.scalar()))


def _stratum_html(stratum: Mapping[str, Any], slowest: float) -> str:
    rules = "".join(_rule_html(rule, slowest) for rule in stratum["rules"])
    return f"<details open><summary><b>{escape(_title(stratum))}</b></summary>{rules}</details>"


def _rule_html(rule: Mapping[str, Any], slowest: float) -> str:
    steps = "".join(_step_html(step, slowest) for step in rule["steps"])
    return (
        f'<details style="margin-left:1.5em"><summary>{escape(_rule_title(rule))}</summary>'
        f'<table style="margin-left:1.5em">{steps}</table></details>'
    )


def _step_html(step: Mapping[str, Any], slowest: float) -> str:
    cells = [step["operator"], step["detail"], f"expected {step['rows']}"]
    if "measured_rows" in step:
        cells += [f"{step['measured_rows']} rows", _time(step)]
    share = (step.get("time_ms") or 0.0) / slowest if slowest else 0.0
    # The darker a step, the more of the time was spent in it.
    colour = f' style="background:rgba(230,120,30,{share / 2:.2f})"' if share else ""
    return f"<tr{colour}>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"


#: How the cluster has evaluated a stratum, which says nothing of its rules.
_ELSEWHERE = {"plans": "plans", "plans_in_parts": "plans in parts", "no_plan": "no plan ({why})"}


def _title(stratum: Mapping[str, Any]) -> str:
    sizes = [
        f"{relation['name']} ({relation.get('measured_rows', relation.get('rows'))} rows)"
        for relation in stratum["relations"]
    ]
    title = ", ".join(sizes)
    strategy = stratum.get("strategy") or {}
    if text := _ELSEWHERE.get(strategy.get("name", "")):
        title += ", " + text.format(**strategy)
    if stratum["recursive"]:
        title += ", recursive" if "rounds" not in stratum else f", {stratum['rounds']} rounds"
    return f"{title}, {_time(stratum)}" if "time_ms" in stratum else title


def _rule_title(rule: Mapping[str, Any]) -> str:
    return str(rule["rule"]) + (f", new rows of {rule['delta']}" if rule.get("delta") else "")


def _step(step: Mapping[str, Any]) -> str:
    text = f"{step['operator']} {step['detail']} -> "
    if "measured_rows" in step:
        return f"{text}{step['measured_rows']} rows, expected {step['rows']}, {_time(step)}"
    return f"{text}{step['rows']} rows expected"


def _time(timed: Mapping[str, Any]) -> str:
    return f"{timed['time_ms']:.3f} ms"
