//! Compiles the programs of the folder `flowlog` for FlowLog.

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=flowlog");
    for file in std::fs::read_dir("flowlog")? {
        flowlog_build::compile(file?.path())?;
    }
    Ok(())
}
