"""What the demo asks: the rules that it defines once, and the questions as programs.

`expected.py` answers the same questions without the server; the tests compare row for row.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Relations in the order of loading, each with its schema.
SCHEMAS = {
    "package": (
        "+package(name: string, version: string, section: string, installed_kib: int, "
        "maintainer: string, source: string, priority: string)"
    ),
    "depends": "+depends(package: string, on: string)",
    "provides": "+provides(package: string, virtual: string)",
    "recommends": "+recommends(package: string, on: string)",
    "suggests": "+suggests(package: string, on: string)",
    "conflicts": "+conflicts(package: string, other: string)",
    "essential": "+essential(package: string)",
}

RULES = """\
// A dependency names a package, or something virtual: then the first package by name that provides it.
+exists(P) <- package(P, _, _, _, _, _, _)
+stand_in(V, min<P>) <- provides(P, V), !exists(V)
+needs_directly(P, Q) <- depends(P, Q), exists(Q), P != Q
+needs_directly(P, Q) <- depends(P, V), stand_in(V, Q), P != Q

// What a package needs in the end: the closure.
+needs(P, Q) <- needs_directly(P, Q)
+needs(P, R) <- needs(P, Q), needs_directly(Q, R)

// Who stops working without a package.
+broken(count<P>, Q) <- needs(P, Q), P != Q

// Packages that need each other, named after the first of them.
+circle_of(P, min<Q>) <- needs(P, Q), needs(Q, P)
+circle(count<P>, First) <- circle_of(P, First)

// Section web: all that it needs, and what every package of it needs that needs anything at all.
+web(P) <- package(P, _, "web", _, _, _, _)
+web_needs(Q) <- web(P), needs(P, Q)
+web_user(P) <- web(P), needs_directly(P, _)
+web_lacks(Q) <- web_user(P), web_needs(Q), !needs(P, Q)
+web_share(count<P>, Q) <- web(P), needs(P, Q)
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in English and as a program."""

    name: str
    text: str
    program: str


QUESTIONS = (
    Question(
        "gnome",
        "What does `gnome` need in the end, and how much disk is that?",
        'weight(count<P>, sum<KiB>) <- needs("gnome", P), package(P, _, _, KiB, _, _, _)\n'
        "?weight(Packages, KiB)",
    ),
    Question(
        "gnome_largest",
        "Which ten of them are the largest?",
        'part(KiB, P, Section) <- needs("gnome", P), package(P, _, Section, KiB, _, _, _)\n'
        "?part(KiB:desc, Package:asc, Section), limit(10)",
    ),
    Question(
        "break_most",
        "Which twenty packages would break most others?",
        "?broken(Packages:desc, Package:asc), limit(20)",
    ),
    Question(
        "circles",
        "Which packages depend on each other in a circle? (size, first member)",
        "?circle(Packages:desc, First:asc)",
    ),
    Question(
        "largest_circle",
        "Who is in the largest one?",
        '?circle_of(Package:asc, First), First = "libjs-util"',
    ),
    Question(
        "web",
        "What does everything in section `web` need together, and how much disk is that?",
        "weight(count<P>, sum<KiB>) <- web_needs(P), package(P, _, _, KiB, _, _, _)\n?weight(Packages, KiB)",
    ),
    Question(
        "web_every",
        "Which of it does every package of `web` need that needs anything?",
        "?web_needs(Package:asc), !web_lacks(Package)",
    ),
    Question(
        "web_share",
        "And which ten packages do most of them share?",
        "?web_share(Packages:desc, Package:asc), limit(10)",
    ),
    Question(
        "closure",
        "How large is the full closure: all pairs of a package and one that it needs in the end?",
        "size(count<P>) <- needs(P, Q)\n?size(Pairs)",
    ),
)

#: What cannot work, as something is missing that it needs in the end.
FALLS = """\
+falls(P) <- depends(P, V), !exists(V), !stand_in(V, _)
+falls(P) <- needs_directly(P, Q), falls(Q)
"""
#: Packages that are taken away, one at a time.
TAKEN = ("gnome-shell", "libgtk-3-0", "python3", "perl-base", "libc6")
PACKAGE = "package($name, Version, Section, KiB, Maintainer, Source, Priority)"

#: The question that is asked a thousand times.
BOUND = "?needs($package, Q)"
BOUND_TIMES = 1000
BOUND_SEED = 20_261_121

#: What the console offers to whoever opens the graph: title, program, and how its answer is shown.
CONSOLE_SCHEMA = "+console_question(place: int, title: string, program: string, shown: string)"
CONSOLE_QUESTIONS = (
    (
        1,
        "Which packages would break most others?",
        "// Every package with how many need it in the end.\n?broken(Packages:desc, Package:asc), limit(20)",
        "chart",
    ),
    (
        2,
        "What does gnome need in the end, and what of it is largest?",
        'part(P, Section, KiB) <- needs("gnome", P), package(P, _, Section, KiB, _, _, _)\n'
        "?part(Package, Section, KiB:desc)",
        "table",
    ),
    (
        3,
        "How does what bash needs hang together?",
        'part("bash")\npart(P) <- needs("bash", P)\nlink(P, Q) <- part(P), needs_directly(P, Q)\n?link(P, Q)',
        "graph",
    ),
    (
        4,
        "Which packages need each other in a circle?",
        "link(P, Q) <- needs_directly(P, Q), circle_of(P, C), circle_of(Q, C)\n?link(P, Q)",
        "graph",
    ),
    (
        5,
        "What cannot work, as something is missing? Watch it while you take a package away.",
        "?falls(P)",
        "table",
    ),
)
