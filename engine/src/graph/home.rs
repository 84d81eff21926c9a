//! `Home`: what all graphs of a folder share. How graphs are made and opened there: see `recovery.rs`.

use std::sync::Arc;

use super::bell::Bell;
use super::events::Listeners;
use super::pins::Pins;
use super::stored_memory::StoredMemory;
use crate::storage::{Clock, Medium, SystemStore};

/// Where graphs are stored, and how.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) medium: Arc<dyn Medium>,
    /// What says which graphs there are.
    pub(super) system: Arc<SystemStore>,
    /// Journal bytes that make a checkpoint due.
    pub(super) checkpoint_bytes: u64,
    pub(super) bell: Bell,
    pub(super) listeners: Listeners,
    pub(super) memory: Arc<StoredMemory>,
    pub(super) clock: Arc<Clock>,
    pub(super) pins: Arc<Pins>,
    /// Whether an archive keeps a copy of every record.
    pub(super) archives: bool,
}
