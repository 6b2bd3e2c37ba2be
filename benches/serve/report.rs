//! What a run gives: the medians of its rounds and their ratios to those of the bare hyper, as a table and as JSON.

use std::{fs, io, path::Path};

use mcpress_bench::Case;
use serde::{Deserialize, Serialize};

use crate::{
    measure::{Sample, output_of},
    servers::Kind,
};

#[derive(Deserialize, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: String,
    pub(crate) rounds: usize,
    pub(crate) milliseconds: u64,
    pub(crate) cases: Vec<Measured>,
}

/// One case at all servers.
#[derive(Deserialize, Serialize)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) servers: Vec<Figures>,
}

/// Medians. Times are in microseconds.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Figures {
    pub(crate) server: Kind,
    pub(crate) bytes: usize,
    pub(crate) requests_per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) cpu_seconds_per_100_000: f64,
    pub(crate) resident_megabytes: f64,
    /// To the bare hyper, by the medians of the ratios within each round.
    pub(crate) speed: f64,
    pub(crate) cpu: f64,
    pub(crate) slowest: f64,
}

impl Report {
    pub(crate) fn new(rounds: usize, milliseconds: u64) -> io::Result<Self> {
        let cpus = fs::read_to_string("/proc/cpuinfo")?;
        let model = cpus.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let machine = format!(
            "{}, {count} processors, Linux {}, {}",
            model.trim_start_matches([' ', '\t', ':']),
            output_of("uname", &["-r"]).unwrap_or_default(),
            output_of("rustc", &["--version"]).unwrap_or_default(),
        );
        println!("{machine}; medians of {rounds} rounds of {milliseconds} ms");
        Ok(Self { machine, rounds, milliseconds, cases: Vec::new() })
    }

    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_string_pretty(self)? + "\n")
    }

    pub(crate) fn add(&mut self, case: &Case, samples: &[(Kind, Vec<Sample>)]) {
        let bare = &samples[0].1;
        let servers = samples.iter().map(|(kind, samples)| Figures::new(*kind, samples, bare)).collect();
        self.cases.push(Measured { name: case.name.clone(), servers });
    }

    pub(crate) fn print_last(&self) {
        let Some(case) = self.cases.last() else { return };
        println!(
            "\n{:<34}{:>10}{:>9}{:>9}{:>9}{:>12}{:>8}{:>9}{:>7}{:>7}{:>7}",
            case.name, "bytes", "req/s", "p50 µs", "p99", "p99.9", "cpu s", "MB", "speed", "cpu", "p99"
        );
        for figures in &case.servers {
            println!(
                "  {:<32}{:>10}{:>9.0}{:>9.0}{:>9.0}{:>12.0}{:>8.2}{:>9.1}{:>7.2}{:>7.2}{:>7.2}",
                format!("{:?}", figures.server),
                figures.bytes,
                figures.requests_per_second,
                figures.p50,
                figures.p99,
                figures.p999,
                figures.cpu_seconds_per_100_000,
                figures.resident_megabytes,
                figures.speed,
                figures.cpu,
                figures.slowest,
            );
        }
    }
}

impl Figures {
    fn new(server: Kind, samples: &[Sample], bare: &[Sample]) -> Self {
        let of = |figure: fn(&Sample) -> f64| median(samples.iter().map(figure));
        let ratio = |figure: fn(&Sample) -> f64| {
            median(samples.iter().zip(bare).map(|(sample, bare)| figure(sample) / figure(bare)))
        };
        Self {
            server,
            bytes: samples[0].outcome.bytes,
            requests_per_second: of(Sample::requests_per_second),
            p50: of(|sample| sample.outcome.p50),
            p99: of(|sample| sample.outcome.p99),
            p999: of(|sample| sample.outcome.p999),
            cpu_seconds_per_100_000: of(Sample::cpu_a_request) * 100_000.0,
            resident_megabytes: of(|sample| sample.resident) / 1e6,
            speed: ratio(Sample::requests_per_second),
            cpu: ratio(Sample::cpu_a_request),
            slowest: ratio(|sample| sample.outcome.p99),
        }
    }
}

impl Sample {
    fn requests_per_second(&self) -> f64 {
        self.outcome.requests as f64 / self.outcome.seconds
    }

    fn cpu_a_request(&self) -> f64 {
        self.cpu / self.outcome.requests as f64
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
