"""The programs in our own language: rules, and the question about them."""

from __future__ import annotations

from pathlib import Path

CLOSURE = """
+reach(X, Y) <- edge(X, Y)
+reach(X, Z) <- reach(X, Y), edge(Y, Z)
"""
REACHED = """
+reached(X) <- start(X)
+reached(Y) <- reached(X), edge(X, Y)
"""

#: `{start}` stands for the one fact of `start`.
PROGRAMS = {
    "closure": (CLOSURE, "?reach(X, Y)"),
    "bound": (CLOSURE, "?reach({start}, Y)"),
    "same-generation": (
        """
+same(X, Y) <- parent(X, P), parent(Y, P), X != Y
+same(X, Y) <- parent(X, A), same(A, B), parent(Y, B)
""",
        "?same(X, Y)",
    ),
    "points-to": (
        """
+pt(Y, X) <- new(Y, X)
+pt(Y, W) <- assign(Y, Z), pt(Z, W)
+pt(Y, W) <- load(Y, X), pt(X, Z), pt(Z, W)
+pt(Z, W) <- store(X, Y), pt(X, Z), pt(Y, W)
""",
        "?pt(X, Y)",
    ),
    "value-flow": (
        """
+flow(Y, X) <- assign(Y, X)
+flow(X, X) <- assign(X, _)
+flow(X, X) <- assign(_, X)
+flow(X, Y) <- flow(X, Z), flow(Z, Y)
+flow(X, Y) <- assign(X, Z), memory(Z, Y)
+memory(X, W) <- dereference(Y, X), alias(Y, Z), dereference(Z, W)
+memory(X, X) <- assign(_, X)
+memory(X, X) <- assign(X, _)
+alias(X, Y) <- flow(Z, X), flow(Z, Y)
+alias(X, Y) <- flow(Z, X), memory(Z, W), flow(W, Y)
""",
        "?alias(X, Y)",
    ),
    "reach": (REACHED, "?reached(X)"),
    "unreachable": (REACHED + "+unreached(X) <- node(X), !reached(X)\n", "?unreached(X)"),
    "components": (
        """
+label(X, min<Y>) <- edge(X, Y)
+label(Y, min<X>) <- edge(X, Y)
+label(Y, min<L>) <- label(X, L), edge(X, Y)
+label(X, min<L>) <- label(Y, L), edge(X, Y)
""",
        "?label(X, L)",
    ),
    "shortest-paths": (
        """
+distance(Y, min<D>) <- weighted(0, Y, D)
+distance(Y, min<D>) <- distance(X, E), weighted(X, Y, W), D = E + W
""",
        "?distance(X, D)",
    ),
    "triangles": (
        "+triangle(X, Y, Z) <- edge(X, Y), edge(Y, Z), edge(X, Z)\n",
        "?triangle(X, Y, Z)",
    ),
    "triangles-counted": (
        "+triangles(count<X>) <- edge(X, Y), edge(Y, Z), edge(X, Z)\n",
        "?triangles(N)",
    ),
    "two-steps": ("+two(X, Z) <- edge(X, Y), edge(Y, Z)\n", "?two(X, Z)"),
    "group-sum": ("+total(C, sum<Q>) <- order(I, C, P, Q)\n", "?total(C, S)"),
    "group-sum-fine": ("+total(C, P, sum<Q>) <- order(I, C, P, Q)\n", "?total(C, P, S)"),
    "star-sum": (
        "+total(R, G, sum<Q>) <- order(I, C, P, Q), customer(C, R), product(P, G)\n",
        "?total(R, G, S)",
    ),
    "difference": ("+rest(X) <- left(X), !right(X)\n", "?rest(X)"),
    "three-way-join": (
        "+joined(I, R, G) <- order(I, C, P, Q), customer(C, R), product(P, G)\n",
        "?joined(I, R, G)",
    ),
    "virtual-calls": (
        """
+subclass(C, C) <- class(C)
+subclass(C, E) <- subclass(D, E), extends(C, D)
+lookup(C, S, M) <- implements(C, S, M)
+lookup(C, S, M) <- lookup(D, S, M), extends(C, D), !declares(C, S)
+reachable(M, 0) <- main(M)
+reachable(M, K) <- calls(_, _, M, K)
+points(V, K, O) <- reachable(M, K), allocated(V, O, M)
+points(V, K, O) <- points(W, K, O), moved(V, W)
+points(V, K, O) <- points(W, K, O), cast(V, W, C), made(O, D), subclass(D, C)
+points(V, K, O) <- load(V, W, F), points(W, K, B), holds(B, F, O)
+holds(B, F, O) <- store(V, F, W), points(V, K, B), points(W, K, O)
+calls(I, K, M, O) <- points(V, K, O), virtual_call(V, S, I), made(O, C), lookup(C, S, M)
+calls(I, K, N, K) <- reachable(M, K), direct_call(I, N, M)
+points(V, O, O) <- reachable(M, O), this(M, V)
+points(V, L, O) <- calls(I, K, M, L), actual(I, W), formal(M, V), points(W, K, O)
+points(V, K, O) <- calls(I, K, M, L), result(I, V), returned(M, W), points(W, L, O)
""",
        "?points(X, Y, Z)",
    ),
    "borrow-checker": (
        """
+alive(V, P) <- used(V, P)
+alive(V, P) <- alive(V, Q), flows(P, Q), !defined(V, P)
+live(O, P) <- alive(V, P), origin(V, O)
+subset(A, B, P) <- outlives(A, B, P)
+subset(A, C, P) <- subset(A, B, P), subset(B, C, P), A != C
+subset(A, B, Q) <- subset(A, B, P), flows(P, Q), live(A, Q), live(B, Q)
+contains(O, L, P) <- issued(O, L, P)
+contains(B, L, P) <- contains(A, L, P), subset(A, B, P)
+contains(O, L, Q) <- contains(O, L, P), !killed(L, P), flows(P, Q), live(O, Q)
+loan_live(L, P) <- contains(O, L, P), live(O, P)
+error(L, P) <- invalidated(L, P), loan_live(L, P)
""",
        "?error(X, Y)",
    ),
    "triples": (
        """
+t(S, P, O) <- triple(S, P, O)
+t(C, 1, E) <- t(C, 1, D), t(D, 1, E)
+t(X, 0, D) <- t(X, 0, C), t(C, 1, D)
+t(P, 2, R) <- t(P, 2, Q), t(Q, 2, R)
+t(X, Q, Y) <- t(X, P, Y), t(P, 2, Q)
+t(X, 0, C) <- t(X, P, _), t(P, 3, C)
+t(Y, 0, C) <- t(_, P, Y), t(P, 4, C)
+t(P, 3, D) <- t(P, 3, C), t(C, 1, D)
+t(P, 4, D) <- t(P, 4, C), t(C, 1, D)
+t(P, 3, C) <- t(Q, 3, C), t(P, 2, Q)
+t(P, 4, C) <- t(Q, 4, C), t(P, 2, Q)
+t(Y, Q, X) <- t(X, P, Y), t(P, 5, Q)
+t(Y, P, X) <- t(X, Q, Y), t(P, 5, Q)
+t(X, P, Z) <- t(P, 0, 6), t(X, P, Y), t(Y, P, Z)
+t(Y, P, X) <- t(X, P, Y), t(P, 0, 7)
+t(Y, 8, X) <- t(X, 8, Y)
+t(X, 8, Z) <- t(X, 8, Y), t(Y, 8, Z)
+t(Y, P, O) <- t(X, P, O), t(X, 8, Y)
+t(S, P, Y) <- t(S, P, X), t(X, 8, Y)
""",
        "?t(X, Y, Z)",
    ),
    "classification": (
        """
+below(C, C) <- concept(C)
+below(C, E) <- below(C, D), subsumed(D, E)
+below(C, E) <- below(C, A), both(A, B, E), below(C, B)
+link(C, R, D) <- below(C, E), has(E, R, D)
+link(C, S, D) <- link(C, R, D), broader_role(R, S)
+link(C, T, E) <- link(C, R, D), chain(R, S, T), link(D, S, E)
+below(C, E) <- link(C, R, D), below(D, F), some(R, F, E)
""",
        "?below(X, Y)",
    ),
    "dyck": (
        """
+flow(X, Y) <- plain(X, Y)
+flow(X, Y) <- opens(X, A, K), closes(A, Y, K)
+flow(X, Y) <- opens(X, A, K), flow(A, B), closes(B, Y, K)
+flow(X, Z) <- flow(X, Y), flow(Y, Z)
""",
        "?flow(X, Y)",
    ),
    "access-control": (
        """
+belongs(U, G) <- member(U, G)
+belongs(U, H) <- belongs(U, G), within(G, H)
+allowed(U, D, A) <- belongs(U, G), granted(G, D, A, N), clearance(U, L), L >= N
+allowed(U, E, A) <- allowed(U, D, A), inside(E, D)
+refused(U, D, A) <- belongs(U, G), denied(G, D, A)
+refused(U, E, A) <- refused(U, D, A), inside(E, D)
+access(U, D, A) <- allowed(U, D, A), !refused(U, D, A), classified(D, N), clearance(U, L), L >= N
""",
        "?access(X, Y, Z)",
    ),
    "timed-paths": (
        """
+reached(S, S, T) <- origin(S, T)
+reached(S, Y, A) <- reached(S, X, T), connection(X, Y, D, A), T <= D, D <= T + 30
""",
        "?reached(X, Y, Z)",
    ),
    "earliest-arrival": (
        """
+reached(S, S, min<T>) <- origin(S, T)
+reached(S, Y, min<A>) <- reached(S, X, T), connection(X, Y, D, A), T <= D
""",
        "?reached(X, Y, Z)",
    ),
    "bill-of-materials": (
        """
+need1(A, P, Q) <- bought(P), uses(A, P, Q)
+need2(A, P, sum<Q>) <- uses(A, B, N), need1(B, P, M), Q = N * M
+need3(A, P, sum<Q>) <- uses(A, B, N), need2(B, P, M), Q = N * M
+need4(A, P, sum<Q>) <- uses(A, B, N), need3(B, P, M), Q = N * M
""",
        "?need4(X, Y, Z)",
    ),
}


def command(binary: Path, program: str, folder: Path) -> list[str]:
    """What runs a program: `benches/examples/workload.rs`."""
    rules, question = PROGRAMS[program]
    if "{start}" in question:
        question = question.format(start=(folder / "start.tsv").read_text().strip())
    return [str(binary), str(folder), rules.strip(), question]
