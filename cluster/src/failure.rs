//! What goes wrong, on its way through DataFusion and out of it.

use datafusion_common::DataFusionError;
use stratalog_engine::BudgetError;
use stratalog_engine::exec::ExecError;

/// What the engine says, to be carried by DataFusion.
pub(crate) fn carried(error: ExecError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// What DataFusion says: if the engine said it first, that. `pool_bytes` is what could not be exceeded.
pub(crate) fn said(error: &DataFusionError, pool_bytes: usize) -> ExecError {
    match error.find_root() {
        DataFusionError::External(external) => match external.downcast_ref::<ExecError>() {
            Some(error) => error.clone(),
            None => ExecError::Elsewhere { why: external.to_string() },
        },
        DataFusionError::ResourcesExhausted(_) => {
            ExecError::Budget(BudgetError::Memory { limit: pool_bytes as u64 })
        }
        other if is_full(other) => BudgetError::Disk { why: other.to_string() }.into(),
        other => ExecError::Elsewhere { why: other.to_string() },
    }
}

/// What another process says: an error that came from there as text.
pub(crate) fn told(why: String, pool_bytes: usize) -> ExecError {
    if why.contains("Resources exhausted") || why.contains("ResourcesExhausted") {
        return BudgetError::Memory { limit: pool_bytes as u64 }.into();
    }
    match names_a_full_disk(&why) {
        true => BudgetError::Disk { why }.into(),
        false => ExecError::Elsewhere { why },
    }
}

/// Whether there is no room on disk: none that may be used, or none at all. On its way through Arrow, a cause becomes text.
fn is_full(error: &DataFusionError) -> bool {
    names_a_full_disk(&error.to_string())
}

fn names_a_full_disk(text: &str) -> bool {
    text.contains("max_temp_directory_size") || text.contains("No space left on device")
}

/// Whether an operator that holds what it reads got no more memory; one that sorts would not have needed it.
pub(crate) fn is_out_of_memory(error: &ExecError, pool_bytes: usize) -> bool {
    matches!(error, ExecError::Budget(BudgetError::Memory { limit }) if *limit == pool_bytes as u64)
}
