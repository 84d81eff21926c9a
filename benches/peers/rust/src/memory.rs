//! What a process has used.

/// The most memory that the process has had, in MB.
pub(crate) fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its high-water mark");
    let kilobytes = line.trim().trim_end_matches(" kB").parse::<u64>().expect("kilobytes");
    kilobytes / 1024
}
