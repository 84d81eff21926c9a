//! What is stored, and what becomes of it: restarts, power loss, `kill -9`, backups, and the memory that it takes.

mod archive;
mod attached;
mod backups;
mod buckets;
mod crash;
mod data_folder;
mod formats;
mod kept_killed;
mod memory;
mod recovery;
