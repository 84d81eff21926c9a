//! Everything over a socket, against the real executable: messages, sessions, events, limits, and whoever means harm.

mod events;
mod hostile;
mod hostile_sockets;
mod isolation;
mod limits;
mod operations;
mod protocol;
mod session_sockets;
mod sessions;
mod subscriptions;
