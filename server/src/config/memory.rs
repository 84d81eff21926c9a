//! How much memory there is: the machine's, or what a container, a unit of systemd or a slice above it may take.

use std::fs;
use std::path::{Path, PathBuf};

/// Taken where the system does not tell.
const UNKNOWN: u64 = 4 << 30;

/// Bytes of memory that this process may take at most.
pub(super) fn available() -> u64 {
    let machine =
        fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text)).unwrap_or(UNKNOWN);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    of_groups(Path::new("/sys/fs/cgroup"), &groups).map_or(machine, |limit| machine.min(limit))
}

fn of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// The least limit of the groups of a process and of all groups above them. `groups` is what `/proc/self/cgroup` says: a
/// line for each hierarchy, of which version 2 has one only. A container may see the path of its host; then only what is
/// above is there, and that is the container's own.
fn of_groups(root: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            named if named.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return Vec::new(),
        };
        upwards(&root, path).into_iter().filter_map(|folder| limit(&folder.join(file))).collect()
    });
    limits.min()
}

/// The folder of a group and of those above it.
fn upwards(root: &Path, path: &str) -> Vec<PathBuf> {
    let inside = Path::new(path.trim_start_matches('/'));
    inside.ancestors().map(|part| root.join(part)).collect()
}

/// The limit in a file; `max` is none.
fn limit(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tempfile::TempDir;

    use super::{of_groups, of_machine};

    fn group(root: &Path, path: &str, file: &str, limit: &str) {
        let folder = root.join(path);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), format!("{limit}\n")).unwrap();
    }

    #[test]
    fn a_unit_has_its_own_limit_and_those_of_the_slices_above() {
        let root = TempDir::new().unwrap();
        let of = |groups: &str| of_groups(root.path(), groups);
        let unit = "0::/system.slice/stratalog.service\n";
        assert_eq!(of(unit), None);
        group(root.path(), "system.slice/stratalog.service", "memory.max", "max");
        assert_eq!(of(unit), None);
        group(root.path(), "system.slice", "memory.max", "3000000000");
        assert_eq!(of(unit), Some(3_000_000_000));
        group(root.path(), "system.slice/stratalog.service", "memory.max", "1000000000");
        assert_eq!(of(unit), Some(1_000_000_000));
        assert_eq!(of("0::/user.slice\n"), None);
    }

    #[test]
    fn a_container_has_the_limit_at_the_top_of_what_it_sees() {
        let root = TempDir::new().unwrap();
        group(root.path(), "", "memory.max", "2000000000");
        assert_eq!(of_groups(root.path(), "0::/\n"), Some(2_000_000_000));
        assert_eq!(of_groups(root.path(), "0::/docker/0123/init\n"), Some(2_000_000_000));
        assert_eq!(of_groups(root.path(), ""), None);
    }

    #[test]
    fn groups_of_the_first_version_count_by_their_controller() {
        let root = TempDir::new().unwrap();
        group(root.path(), "memory/docker/0123", "memory.limit_in_bytes", "500000000");
        group(root.path(), "memory", "memory.limit_in_bytes", "9223372036854771712");
        let groups = "12:cpu,cpuacct:/other\n4:memory:/docker/0123\n1:name=systemd:/docker/0123\n";
        assert_eq!(of_groups(root.path(), groups), Some(500_000_000));
    }

    #[test]
    fn the_machine_tells_its_memory_in_kilobytes() {
        assert_eq!(of_machine("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(of_machine(""), None);
    }
}
