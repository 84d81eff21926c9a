//! Priority of threads: work that takes long gives way to work that has just come in. The only file that names rustix.
//!
//! Only Linux has priorities of threads. There, whoever may not raise a priority can still lower it: so it is lowered
//! once, for all threads that work together, and never raised again.

use std::cell::RefCell;
use std::sync::Arc;

use parking_lot::Mutex;

/// The priority that some threads share.
#[derive(Debug, Default)]
pub(super) struct Priority(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_low: bool,
    threads: Vec<system::Thread>,
}

thread_local! {
    /// The priority of this thread, until it is low.
    static SHARED: RefCell<Option<Arc<Priority>>> = const { RefCell::new(None) };
}

impl Priority {
    /// Whether [`give_way`] was called by one of its threads.
    pub(super) fn is_low(&self) -> bool {
        self.0.lock().is_low
    }
}

/// This thread has this priority from now on.
pub(super) fn share(priority: &Arc<Priority>) {
    let this = system::this_thread();
    let mut state = priority.0.lock();
    if state.is_low {
        system::lower(this);
    } else {
        state.threads.push(this);
        SHARED.set(Some(Arc::clone(priority)));
    }
}

/// Lowers the priority of this thread and of those that it is shared with; of others nothing.
pub(crate) fn give_way() {
    if let Some(priority) = SHARED.take() {
        let mut state = priority.0.lock();
        state.is_low = true;
        state.threads.drain(..).for_each(system::lower);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::process::{Pid, setpriority_process};

    /// The lowest of all: every other thread that can run goes first, but for about a hundredth of the time.
    const LOWEST: i32 = 19;

    pub(super) type Thread = Pid;

    pub(super) fn this_thread() -> Thread {
        rustix::thread::gettid()
    }

    pub(super) fn lower(thread: Thread) {
        // Lowering is everybody's right, and a thread that has ended needs no priority.
        let _ = setpriority_process(Some(thread), LOWEST);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) type Thread = ();

    pub(super) fn this_thread() -> Thread {}

    pub(super) fn lower((): Thread) {}
}

/// The nice value of this thread.
#[cfg(all(test, target_os = "linux"))]
pub(super) fn nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap()
}
