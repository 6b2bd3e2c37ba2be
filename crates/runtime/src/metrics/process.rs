//! What Prometheus's own clients say of a process, read from `/proc` at each scrape. Where there is none, nothing is
//! said.

use std::{fmt, fs};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};

/// Linux counts the time of processes in hundredths of a second, whatever its own clock does.
const TICKS: f64 = 100.0;

#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let status = read("/proc/self/status");
        let stat = read("/proc/self/stat");
        // The second field is the program's name, which may hold anything; the third comes behind its parenthesis.
        let stat: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |field: usize| Some(stat.get(field - 3)?.parse::<f64>().ok()? / TICKS);
        let kibibytes = |name: &str| Some(named(&status, name)?.parse::<f64>().ok()? * 1024.0);
        let boot = named(&read("/proc/stat"), "btime").and_then(|seconds| seconds.parse::<f64>().ok());
        let limits = read("/proc/self/limits");
        let max_fds = named(&limits, "Max open files").and_then(|limit| limit.parse::<f64>().ok());
        let start = boot.zip(ticks(22)).map(|(boot, start)| boot + start);
        // One of them is the folder that is read.
        let open_fds = fs::read_dir("/proc/self/fd").ok().map(|fds| fds.count().saturating_sub(1) as f64);
        let mut gauge = |name: &str, help: &str, value: Option<f64>| match value {
            Some(value) => {
                let gauge = ConstGauge::new(value);
                gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
            }
            None => Ok(()),
        };
        gauge("process_resident_memory_bytes", "Resident memory size", kibibytes("VmRSS:"))?;
        gauge("process_virtual_memory_bytes", "Virtual memory size", kibibytes("VmSize:"))?;
        gauge("process_open_fds", "Open file descriptors", open_fds)?;
        gauge("process_max_fds", "File descriptors that may be open", max_fds)?;
        gauge("process_start_time_seconds", "Start time of the process since the Unix epoch", start)?;
        if let Some((user, system)) = ticks(14).zip(ticks(15)) {
            let counter = ConstCounter::new(user + system);
            let help = "Time that processors spent, for the process and for the system on its behalf";
            counter.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, counter.metric_type())?)?;
        }
        Ok(())
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The first word behind a name at the beginning of a line.
fn named<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next())
}
