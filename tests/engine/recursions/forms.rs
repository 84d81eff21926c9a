//! Forms of rules for `t`, most of them recursive, and the question about it.

/// Rules for `t`, and the question about it: walks, and what looks like one.
pub(crate) const WALKS: &[(&str, &str)] = &[
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _)", "?t(X, Y)"),
    // The second column is carried.
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- edge(X, Y, _), t(Y, Z)", "?t(X, Y)"),
    // Several rules, and edges in both directions.
    (
        "+t(X, X) <- node(X)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _)\n+t(X, Z) <- t(X, Y), edge(Z, Y, 3)",
        "?t(X, Y)",
    ),
    // Conditions on edges: constants, comparisons, equality, negation.
    ("+t(X, X) <- node(X)\n+t(X, Z) <- t(X, Y), edge(Y, Z, 1)", "?t(X, Y)"),
    ("+t(X, X) <- node(X)\n+t(X, Z) <- t(X, Y), edge(Y, Z, W), W < 2, !odd(Z)", "?t(X, Y)"),
    ("+t(X, X) <- node(X)\n+t(X, Z) <- t(X, Y), edge(Y, Z, Y)", "?t(X, Y)"),
    ("+t(X, X) <- node(X)\n+t(X, Z) <- t(X, Y), odd(Z), edge(Y, Z, W), node(Y), edge(Z, Y, W)", "?t(X, Y)"),
    // Steps that begin or end in a constant.
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, 7), edge(7, Z, _)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, 5) <- t(X, Y), odd(Y)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, 7), odd(Z)", "?t(X, Y)"),
    // Only some sources may go on, or only some along these edges.
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- odd(X), t(X, Y), edge(Y, Z, _)", "?t(X, Y)"),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- odd(X), t(X, Y), edge(Y, Z, 1)\n+t(X, Z) <- t(X, Y), edge(Y, Z, 2)",
        "?t(X, Y)",
    ),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- never(X), t(X, Y), edge(Y, Z, 1)", "?t(X, Y)"),
    // What looks like a guard, and grows with the recursion.
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _), t(X, X)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _), t(8, X)", "?t(X, Y)"),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _)\n+t(X, Z) <- t(X, Y), edge(Z, Y, _), t(X, 8)",
        "?t(X, Y)",
    ),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _), t(_, X)", "?t(X, Y)"),
    // A relation times itself, beside other steps.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Z) <- t(X, Y), edge(Y, Z, 1), odd(Z)",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Z) <- odd(X), t(X, Y), edge(Y, Z, 1)",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(Y, Z), t(X, Y)\n+t(X, Z) <- edge(X, Y, 1), t(Y, Z)",
        "?t(X, Y)",
    ),
    // One source, and none.
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _)", "?t(1, Y)"),
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- edge(X, Y, _), t(Y, Z)", "?t(X, 2)"),
    ("+t(Y) <- edge(3, Y, _)\n+t(Y) <- t(X), edge(X, Y, _)", "?t(X)"),
    ("+t(Y) <- odd(Y)\n+t(Y) <- t(X), edge(X, Y, 3), Y != 4", "?t(X)"),
    // Edges are derived themselves, or depend on more than is handed on: tuples all the way.
    (
        "+step(X, Y) <- edge(X, Y, _), !odd(X)\n+t(X, Y) <- step(X, Y)\n+t(X, Z) <- t(X, Y), step(Y, Z)",
        "?t(X, Y)",
    ),
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), edge(Y, Z, X)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), t(Y, Z)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), edge(Y, Z, W), X + W < Z", "?t(X, Y)"),
];

/// The same for chains, and what looks like one.
pub(crate) const CHAINS: &[(&str, &str)] = &[
    // The same generation, with and without oneself; each end moves.
    (
        "+t(X, Y) <- edge(P, X, _), edge(P, Y, _), X != Y\n+t(X, Y) <- edge(A, X, _), t(A, B), edge(B, Y, _)",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(P, X, _), edge(P, Y, _), X != Y\n+t(X, Y) <- edge(A, X, _), t(A, B), edge(B, Y, _), Y != X",
        "?t(X, Y)",
    ),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Y) <- edge(A, X, _), t(A, B), edge(Y, B, 1)", "?t(X, Y)"),
    // A relation times itself, in all four ways, and thrice.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Z, Y)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(Y, X), t(Y, Z), X != Z", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(Y, X), t(Z, Y)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(A, D) <- t(A, B), t(B, C), t(C, D)", "?t(X, Y)"),
    // Columns that change places, and rows as they are.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(Y, X) <- t(X, Y)\n+t(X, Z) <- t(X, Y), edge(Y, Z, 1)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, _)\n+u(X, Y) <- t(X, Y)\n+t(X, Z) <- u(X, Y), u(Y, Z)", "?u(X, Y)"),
    // Points-to: parts that do the same work.
    (
        "+t(Y, X) <- edge(Y, X, 0)\n+t(Y, W) <- edge(Y, Z, 1), t(Z, W)\n\
         +t(Y, W) <- edge(Y, X, 2), t(X, Z), t(Z, W)\n+t(Z, W) <- edge(X, Y, 3), t(X, Z), t(Y, W)",
        "?t(X, Y)",
    ),
    // Three relations that derive each other: value flow.
    (
        "+flow(Y, X) <- edge(Y, X, 0)\n+flow(X, X) <- edge(X, _, 0)\n+flow(X, Y) <- flow(X, Z), flow(Z, Y)\n\
         +flow(X, Y) <- edge(X, Z, 0), memory(Z, Y)\n+memory(X, W) <- edge(Y, X, 1), t(Y, Z), edge(Z, W, 1)\n\
         +t(X, Y) <- flow(Z, X), flow(Z, Y)\n+t(X, Y) <- flow(Z, X), memory(Z, W), flow(W, Y)",
        "?t(X, Y)",
    ),
    // Conditions on edges, and on values in which links meet.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Y) <- edge(A, X, W), W > 1, t(A, B), edge(B, Y, V), V < 2, !odd(B)",
        "?t(X, Y)",
    ),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), odd(Y), t(Y, Z)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- odd(X), t(X, Y), t(Y, Z), odd(Z)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z), edge(Y, _, 2)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z), edge(Y, Y, _)", "?t(X, Y)"),
    // Rows are stored beside what rules derive; nothing to begin with.
    ("+t(8, 9)\n+t(9, 11)\n+t(X, Y) <- edge(A, X, _), t(A, B), edge(B, Y, _)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 77)\n+t(X, Y) <- edge(A, X, _), t(A, B), edge(B, Y, _)", "?t(X, Y)"),
    // No chains: branches, circles, constants, comparisons of far ends, one value twice.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z), t(Y, _)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), t(Y, Z), t(X, Z)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, 5), t(5, Z)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z), X < Z", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, X) <- t(X, Y), t(Y, _)", "?t(X, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z), flag(1)", "?t(X, Y)"),
    // Demanded from one end.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Y) <- edge(A, X, _), t(A, B), edge(B, Y, _)", "?t(3, Y)"),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)", "?t(3, Y)"),
];

/// Some of whose rules are products of matrices, and others are not.
pub(crate) const MIXED: &[(&str, &str)] = &[
    // Calls and returns match; so do steps of one kind from both ends.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n\
         +t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Y) <- edge(A, X, 1), t(A, B), edge(B, Y, 2)\n\
         +t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K), X != Y",
        "?t(X, Y)",
    ),
    // Another relation of three columns, of one, and of best values; two that are matrices.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+u(X, Y, K) <- t(X, A), edge(A, Y, K)\n\
         +t(X, Y) <- u(X, Y, K), edge(Y, X, K)",
        "?u(X, Y, K)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Z, Y, 1)\n+m(Y) <- t(3, Y)\n\
         +t(X, Y) <- m(X), edge(X, Y, _), m(Y)",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(Y, X), t(Y, Z)\n+u(Y, X) <- t(X, Y)\n\
         +u(X, Z) <- u(X, Y), edge(Y, Z, 2)\n+t(X, X) <- u(X, Y), edge(Y, X, K), edge(X, Y, K)",
        "?u(X, Y)",
    ),
    // Values that no matrix has at first, on both sides of all others.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, V) <- t(X, Y), edge(Y, X, W), V = W - 90\n\
         +t(V, X) <- t(X, -90), edge(X, _, W), V = W + 5000000000",
        "?t(X, Y)",
    ),
    // One column is carried by all rules; a circle, and the same node twice.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Z) <- t(X, Y), edge(Y, Z, 1), X < Z",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), t(Y, Z), t(X, Z)\n+t(Y, X) <- t(X, Y)\n\
         +t(X, Z) <- edge(X, Y, 3), t(Y, Z)",
        "?t(X, Y)",
    ),
    // What products find is composed by rules that are none, and what these compose is multiplied.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z), X > 5\n+t(X, Y) <- edge(A, X, 1), t(A, B), edge(B, Y, 2)",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z), Z > 5\n+t(X, Y) <- t(A, X), edge(A, Y, 1)",
        "?t(X, Y)",
    ),
    // Products alone find rows of which it is asked whether they are known.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+v(X, Y) <- t(Y, X)\n+t(X, Z) <- v(Y, X), edge(Y, Z, 1)\n\
         +w(X, Y, K) <- t(X, _), edge(X, Y, K), v(X, Y)\n+t(Y, Y) <- w(X, Y, K), K > 0",
        "?w(X, Y, K)",
    ),
    // Nothing to begin with; asked from one end.
    (
        "+t(X, Y) <- edge(X, Y, 77)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)",
        "?t(X, Y)",
    ),
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)",
        "?t(3, Y)",
    ),
];

/// The same for edges that are relaxed, and what looks like it.
pub(crate) const RELAXATIONS: &[(&str, &str)] = &[
    // Components, from both ends; the largest neighbour; along edges of one kind.
    (
        "+t(X, min<Y>) <- edge(X, Y, _)\n+t(Y, min<L>) <- t(X, L), edge(X, Y, _)\n+t(X, min<L>) <- t(Y, L), edge(X, Y, _)",
        "?t(X, L)",
    ),
    ("+t(X, max<Y>) <- edge(X, Y, _)\n+t(Y, max<L>) <- t(X, L), edge(X, Y, _)", "?t(X, L)"),
    ("+t(max<Y>, X) <- edge(X, Y, _)\n+t(max<L>, Y) <- t(L, X), edge(X, Y, 1), !odd(Y)", "?t(L, X)"),
    // Values that are no small integers: text, floats, far numbers, Null.
    ("+t(X, min<N>) <- name(X, N)\n+t(Y, min<L>) <- t(X, L), edge(X, Y, _)", "?t(X, L)"),
    ("+t(X, max<N>) <- name(X, N)\n+t(Y, max<L>) <- t(X, L), edge(X, Y, _)", "?t(X, L)"),
    ("+t(3, -5.5)\n+t(8, null)\n+t(2, 7)\n+t(Y, min<L>) <- t(X, L), edge(X, Y, _)", "?t(X, L)"),
    // Shortest ways: a weight of the edge, a constant, a condition, sums that are no small integers.
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), D = E + W", "?t(X, D)"),
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), W < 3, D = W + E", "?t(X, D)"),
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, _), D = E + 1", "?t(X, D)"),
    (
        "+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), D = E + 2147483640",
        "?t(X, D)",
    ),
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), D = E + 0.5", "?t(X, D)"),
    (
        "+w(X, Y, V) <- edge(X, Y, W), V = W * 0.5\n+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), w(X, Y, V), D = E + V",
        "?t(X, D)",
    ),
    (
        "+w(X, Y, V) <- edge(X, Y, W), V = W / 7.0 + 0.1\n+t(X, min<D>) <- odd(X), D = X * 0.3\n+t(Y, min<D>) <- t(X, E), w(X, Y, V), D = V + E\n+t(Y, min<D>) <- t(X, D), edge(Y, X, 2)",
        "?t(X, D)",
    ),
    (
        "+w(X, Y, V) <- edge(X, Y, W), V = W * 0.5\n+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), w(X, Y, V), D = E + V\n+t(Y, min<D>) <- t(X, D), edge(Y, X, 1)",
        "?t(X, D)",
    ),
    (
        "+w(X, Y, V) <- edge(X, Y, W), W > 2, V = W * 0.5\n+w(X, Y, W) <- edge(X, Y, W), W < 2\n+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), w(X, Y, V), D = E + V",
        "?t(X, D)",
    ),
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), D = E + W, D < 9", "?t(X, D)"),
    ("+t(X, max<D>) <- down(3, X, D)\n+t(Y, max<D>) <- t(X, E), down(X, Y, W), D = E + W", "?t(X, D)"),
    // Nodes that are computed.
    ("+t(X, min<Y>) <- edge(X, Y, _)\n+t(Y + 1, min<L>) <- t(X, L), edge(X, Y, _)", "?t(X, L)"),
    ("+t(X, min<Y>) <- edge(X, Y, _)\n+t(Z, min<L>) <- t(X, L), edge(X, Y, W), Z = Y + W", "?t(X, L)"),
    // From a node, to a node, and only one of them asked for.
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(9, min<D>) <- t(X, E), odd(X), D = E + 1", "?t(X, D)"),
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(8, E), edge(8, Y, W), D = E + W", "?t(X, D)"),
    ("+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), D = E + W", "?t(7, D)"),
    // The widest way, and that of which the worst step is best: integers, floats, a constant, both at once.
    (
        "+t(X, max<D>) <- edge(3, X, D)\n+t(Y, max<D>) <- t(X, E), edge(X, Y, W), D = min_val(E, W)",
        "?t(X, D)",
    ),
    (
        "+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), D = max_val(W, E)",
        "?t(X, D)",
    ),
    (
        "+t(X, min<D>) <- edge(3, X, D)\n+t(Y, min<D>) <- t(X, E), edge(X, Y, W), D = min_val(W, E)",
        "?t(X, D)",
    ),
    (
        "+t(X, max<D>) <- edge(3, X, D)\n+t(Y, max<D>) <- t(X, E), edge(X, Y, W), D = max_val(E, 2)",
        "?t(X, D)",
    ),
    (
        "+w(X, Y, V) <- edge(X, Y, W), V = W / 7.0 + 0.1\n+t(X, max<V>) <- w(3, X, V)\n+t(Y, max<D>) <- t(X, E), w(X, Y, V), D = min_val(E, V)",
        "?t(X, D)",
    ),
    (
        "+w(X, Y, V) <- edge(X, Y, W), V = W / 7.0 + 0.1\n+t(X, min<V>) <- w(3, X, V)\n+t(Y, min<D>) <- t(X, E), w(X, Y, V), D = max_val(V, E)\n+t(Y, min<D>) <- t(X, E), w(Y, X, V), D = E + V",
        "?t(X, D)",
    ),
    (
        "+t(X, max<D>) <- edge(3, X, D)\n+t(Y, max<D>) <- t(X, E), edge(X, Y, W), D = min_val(E, W)\n+t(Y, max<D>) <- t(X, E), down(X, Y, W), D = E + W",
        "?t(X, D)",
    ),
    // Text has no bounds that are numbers.
    (
        "+t(X, max<N>) <- name(X, N)\n+t(Y, max<D>) <- t(X, E), edge(X, Y, _), name(Y, N), D = min_val(E, N)",
        "?t(X, D)",
    ),
    // Two columns of nodes: all, from a node, to a node, from one to another, and to some.
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), D = E + W",
        "?t(X, Y, D)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), D = E + W",
        "?t(3, Y, D)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), D = E + W",
        "?t(X, 7, D)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), D = E + W",
        "?t(3, 7, D)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), D = E + W",
        "?odd(X), t(X, Y, D), odd(Y)",
    ),
    // The node stands first, or last; the edge is turned round, or begins in what the other column has.
    (
        "+t(Y, X, min<D>) <- edge(X, Y, D)\n+t(Z, X, min<D>) <- t(Y, X, E), edge(Y, Z, W), D = E + W",
        "?t(Y, X, D)",
    ),
    (
        "+t(max<D>, X, Y) <- edge(Y, X, D)\n+t(max<D>, X, Z) <- t(E, X, Y), edge(Z, Y, W), D = min_val(E, W)",
        "?t(D, X, Y)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(X, Z, W), D = E + W",
        "?t(X, Y, D)",
    ),
    // Both columns move.
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), D = E + W\n+t(Z, Y, min<D>) <- t(X, Y, E), edge(Z, X, W), D = E + W",
        "?t(X, Y, D)",
    ),
    // Only some may take an edge, by what they are or by what they are not.
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), odd(X), D = E + W\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Z, Y, 1), D = E + 1",
        "?t(X, Y, D)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), !odd(X), D = E + W",
        "?t(X, Y, D)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), edge(X, _, V), V < 2, X > 4, D = E + W",
        "?t(X, Y, D)",
    ),
    // What is carried is added, or joined with.
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, _), D = E + X, D < 99",
        "?t(X, Y, D)",
    ),
    (
        "+t(X, Y, min<D>) <- edge(X, Y, D)\n+t(X, Z, min<D>) <- t(X, Y, E), edge(Y, Z, W), !edge(X, Z, 1), D = E + W",
        "?t(X, Y, D)",
    ),
    // Two columns are carried, or three.
    (
        "+t(A, X, Y, max<D>) <- edge(X, Y, D), A = D % 2\n+t(A, X, Z, max<D>) <- t(A, X, Y, E), edge(Y, Z, W), D = min_val(E, W)",
        "?t(A, X, Y, D)",
    ),
    (
        "+t(A, B, X, Y, max<D>) <- edge(X, Y, D), A = D % 2, B = X % 3\n+t(A, B, X, Z, max<D>) <- t(A, B, X, Y, E), edge(Y, Z, W), D = min_val(E, W)",
        "?t(A, B, X, Y, D)",
    ),
    // Floats from many nodes; integers with which some of them begin.
    (
        "+w(X, Y, V) <- edge(X, Y, W), V = W / 7.0 + 0.1\n+t(X, X, min<D>) <- odd(X), D = 0\n+t(X, Z, min<D>) <- t(X, Y, E), w(Y, Z, V), D = E + V",
        "?t(X, Y, D)",
    ),
];

/// No recursion, and solutions that differ only in what the head leaves out, or are counted.
pub(crate) const PROJECTIONS: &[(&str, &str)] = &[
    ("+t(X, Z) <- edge(X, Y, _), edge(Y, Z, _)", "?t(X, Z)"),
    ("+t(Z, X) <- edge(X, Y, _), edge(Y, Z, _)", "?t(Z, X)"),
    ("+t(X) <- edge(X, Y, _), edge(Y, Z, _)", "?t(X)"),
    ("+t(X, W, Z) <- edge(X, Y, W), edge(Y, Z, V), W != V", "?t(X, W, Z)"),
    ("+t(W, Z, V) <- edge(X, Y, W), edge(Y, Z, V)", "?t(W, Z, V)"),
    // What is computed, constants, and conditions.
    ("+t(X, 5, S) <- edge(X, Y, _), edge(Y, Z, V), S = Z + V", "?t(X, F, S)"),
    ("+t(X, Z + 1) <- edge(X, Y, _), edge(Y, Z, _), !edge(X, Z, _)", "?t(X, Z)"),
    ("+t(X, Z) <- edge(X, Y, 2), edge(Y, Z, 1), odd(Z)", "?t(X, Z)"),
    ("+t(X, Z) <- edge(X, X, W), edge(Y, Z, W)", "?t(X, Z)"),
    // The source has nothing that is kept, or one value only.
    ("+t(V, Z) <- edge(7, Y, _), edge(Y, Z, V)", "?t(V, Z)"),
    ("+t(X, Z) <- edge(X, Y, _), edge(Y, Z, _)", "?t(7, Z)"),
    // Of derived rows, of text, and into a relation that another rule joins.
    ("+s(X, Y) <- edge(X, Y, W), W < 3\n+t(X, Z) <- s(X, Y), s(Y, Z)", "?t(X, Z)"),
    ("+t(N, Z) <- name(X, N), edge(X, Y, _), edge(Y, Z, _)", "?t(N, Z)"),
    ("+s(X, Z) <- edge(X, Y, 0), edge(Y, Z, _)\n+t(X, Z) <- s(X, Y), s(Y, Z)", "?t(X, Z)"),
    // Groups, by what the source has and by what it has not.
    ("+t(X, sum<W>) <- edge(X, Y, W)", "?t(X, S)"),
    ("+t(count<Z>, X, max<V>) <- edge(X, Y, _), edge(Y, Z, V)", "?t(N, X, V)"),
    ("+t(W, X, count_distinct<Z>, avg<V>) <- edge(X, Y, W), edge(Y, Z, V)", "?t(W, X, N, A)"),
    ("+t(V, Z, min<X>) <- edge(X, Y, _), edge(Y, Z, V), V < 3", "?t(V, Z, M)"),
    ("+t(N, sum<Z>) <- name(X, N), edge(X, Y, _), edge(Y, Z, _)", "?t(N, S)"),
];
