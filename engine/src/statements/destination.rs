//! Where a question is evaluated: here, or by the cluster.

use crate::analysis::program::Program;
use crate::attached::RowFiles;
use crate::budget::size;
use crate::catalog::ClusterUse;
use crate::cluster::{Cluster, EvaluationPlace};
use crate::context::Context;
use crate::data::{self, Run};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::Relations;

/// Where a question is evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) enum Destination<'e> {
    /// In the memory of this process.
    Here(Why),
    /// There as long as memory suffices, and else by the cluster.
    HereFirst(&'e Cluster),
    /// By the cluster.
    Cluster(&'e Cluster, Why),
}

/// Why there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// There is no cluster.
    NoCluster,
    /// Somebody wants it so.
    Asked,
    /// The graph says so.
    Graph(ClusterUse),
    /// So many bytes of stored rows are read.
    Reads(u64),
}

/// Where a program goes that reads these relations.
pub(super) fn destination<'e>(
    program: &Program,
    relations: &dyn Relations,
    context: &Context<'e>,
) -> Result<Destination<'e>, Error> {
    let said = context.snapshot().catalog().cluster_use();
    let Some(cluster) = &context.environment.cluster else {
        return match (context.place, said) {
            (EvaluationPlace::Cluster, _) => Err(no_cluster("this question asks for the cluster")),
            (_, Some(ClusterUse::Only)) => Err(no_cluster("this graph is evaluated by a cluster only")),
            _ => Ok(Destination::Here(Why::NoCluster)),
        };
    };
    let uses = said.unwrap_or(cluster.default_use);
    match (context.place, uses) {
        (EvaluationPlace::Cluster, ClusterUse::Off) => Err(unavailable(
            format!("the knowledge graph {} does not use the cluster", context.graph.name()),
            "an owner of the graph switches it on: .kg cluster on",
        )),
        (EvaluationPlace::Here, ClusterUse::Only) => Err(unavailable(
            format!("the knowledge graph {} is evaluated by the cluster only", context.graph.name()),
            "ask without a place; or an owner of the graph allows both: .kg cluster on",
        )),
        (EvaluationPlace::Auto | EvaluationPlace::Here, ClusterUse::Off) => {
            Ok(Destination::Here(Why::Graph(uses)))
        }
        (EvaluationPlace::Here, ClusterUse::On) => Ok(Destination::Here(Why::Asked)),
        (EvaluationPlace::Cluster, ClusterUse::On | ClusterUse::Only) => {
            Ok(Destination::Cluster(cluster, Why::Asked))
        }
        (EvaluationPlace::Auto, ClusterUse::Only) => Ok(Destination::Cluster(cluster, Why::Graph(uses))),
        (EvaluationPlace::Auto, ClusterUse::On) => {
            let reads = bytes_read(program, relations);
            Ok(match reads > cluster.over_bytes {
                true => Destination::Cluster(cluster, Why::Reads(reads)),
                false => Destination::HereFirst(cluster),
            })
        }
    }
}

/// The bytes of all rows that a program reads, as codes.
fn bytes_read(program: &Program, relations: &dyn Relations) -> u64 {
    let stored = program.relations.iter().filter(|relation| relation.stored);
    let bytes = stored.map(|relation| {
        let rows: usize = relations.runs(&relation.name).iter().map(Run::len).sum();
        let in_files = relations.files(&relation.name).map_or(0, RowFiles::bytes);
        (rows * relation.arity * size_of::<data::Code>()) as u64 + in_files
    });
    bytes.sum()
}

impl Destination<'_> {
    /// As `.explain` says it; nothing where there is no choice.
    pub(super) fn line(&self) -> Option<String> {
        let because = |why: Why| match why {
            Why::NoCluster => None,
            Why::Asked => Some("as it is asked for".to_owned()),
            Why::Graph(uses) => Some(format!("as the graph has `.kg cluster {}`", uses.as_str())),
            Why::Reads(bytes) => Some(format!("as {} of stored rows are read", size(bytes))),
        };
        match self {
            Destination::Here(why) => because(*why).map(|why| format!("evaluated here, {why}")),
            Destination::HereFirst(_) => {
                Some("evaluated here, and by the cluster if memory does not suffice".to_owned())
            }
            Destination::Cluster(_, why) => {
                because(*why).map(|why| format!("evaluated by the cluster, {why}"))
            }
        }
    }
}

/// What a question or a graph is told that wants a cluster where there is none.
pub(crate) fn no_cluster(message: &str) -> Error {
    unavailable(
        format!("{message}, and this server has none"),
        "start `stratalog-cluster server` on the same data, which has one",
    )
}

fn unavailable(message: String, help: &str) -> Error {
    Error::refused(Diagnostic::error(Code::ClusterUnavailable, message).help(help))
}
