//! Priority of threads: work that takes long gives way to work that has just come in. The only file that names rustix.
//!
//! Only Linux has priorities of threads. There, whoever may not raise a priority can still lower it: so it is lowered
//! once, for all threads that work together, and never raised again.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

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
    /// The work that this thread does, and its processor time when that began.
    static WORK: Cell<(u64, Duration)> = const { Cell::new((0, Duration::ZERO)) };
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

/// Lowers the priority of this thread, which nobody waits for.
pub(crate) fn run_low() {
    system::lower(system::this_thread());
}

/// The processor time that this thread has taken since it was asked first about the work of this number.
pub(crate) fn worked(work: u64) -> Duration {
    let now = system::processor_time();
    let (known, began) = WORK.get();
    if known != work {
        WORK.set((work, now));
        return Duration::ZERO;
    }
    now.saturating_sub(began)
}

#[cfg(target_os = "linux")]
mod system {
    use std::time::Duration;

    use rustix::process::{Pid, getpriority_process, setpriority_process};
    use rustix::time::{ClockId, clock_gettime};

    /// As a nice value. Threads that others have to wait for run at 0; beside one of those, this one has about a
    /// thirtieth of the time, so it goes on under any load.
    pub(super) const LOW: i32 = 15;

    pub(super) type Thread = Pid;

    pub(super) fn this_thread() -> Thread {
        rustix::thread::gettid()
    }

    pub(super) fn lower(thread: Thread) {
        // Lowering is everybody's right, and a thread that has ended needs no priority.
        if getpriority_process(Some(thread)).is_ok_and(|nice| nice < LOW) {
            let _ = setpriority_process(Some(thread), LOW);
        }
    }

    pub(super) fn processor_time() -> Duration {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.try_into().unwrap_or_default()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    pub(super) type Thread = ();

    pub(super) fn this_thread() -> Thread {}

    pub(super) fn lower((): Thread) {}

    /// What else is known: the time that has passed.
    pub(super) fn processor_time() -> Duration {
        static START: std::sync::LazyLock<std::time::Instant> =
            std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed()
    }
}

/// The nice value of this thread.
#[cfg(all(test, target_os = "linux"))]
pub(super) fn nice() -> i32 {
    rustix::process::getpriority_process(None).unwrap()
}
