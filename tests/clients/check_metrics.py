#!/usr/bin/env python3
"""Reads the metrics of a running server as Prometheus does, and compares them with its conventions.

usage: check_metrics.py URL
"""

import math
import sys

import requests
from prometheus_client.parser import text_string_to_metric_families

UNITS = ("_seconds", "_bytes", "_info", "_fds", "_limit", "_in_flight", "_connections", "_streams")


def faults(families):
    """What is wrong with the metrics."""
    for family in families:
        if not family.documentation:
            yield f"{family.name} has no help"
        if family.type not in ("counter", "gauge", "histogram"):
            yield f"{family.name} is of type {family.type}"
        if not family.name.startswith(("mcpress_", "process_")):
            yield f"{family.name} has no prefix"
        if family.type == "gauge" and not family.name.endswith(UNITS):
            yield f"{family.name} has no unit"
        if family.type == "counter":
            yield from (f"{sample.name} is no total" for sample in family.samples if not sample.name.endswith("_total"))
        if family.type == "histogram":
            yield from faults_of_histogram(family)
        for sample in family.samples:
            if math.isnan(sample.value) or sample.value < 0:
                yield f"{sample} is no count"


def faults_of_histogram(family):
    """Buckets that do not add up."""
    series = {}
    for sample in family.samples:
        labels = {name: value for name, value in sample.labels.items() if name != "le"}
        of = series.setdefault(str(sorted(labels.items())), {"buckets": []})
        if sample.name.endswith("_bucket"):
            of["buckets"].append((float(sample.labels["le"]), sample.value))
        else:
            of[sample.name.removeprefix(family.name)] = sample.value
    for labels, of in series.items():
        counts = [count for _, count in sorted(of["buckets"])]
        if counts != sorted(counts) or counts[-1] != of["_count"] or max(of["buckets"])[0] != math.inf:
            yield f"{family.name}{labels} does not add up: {of}"


def main():
    answer = requests.get(sys.argv[1], timeout=10)
    answer.raise_for_status()
    if not answer.headers["content-type"].startswith("text/plain; version=0.0.4"):
        sys.exit(f"the media type is {answer.headers['content-type']}")
    families = list(text_string_to_metric_families(answer.text))
    found = list(faults(families))
    names = {family.name for family in families}
    wanted = {"mcpress_requests", "mcpress_request_duration_seconds", "mcpress_build_info", "process_cpu_seconds"}
    found += [f"{name} is missing" for name in sorted(wanted - names)]
    if found:
        sys.exit("\n".join(found))
    series = sum(len(family.samples) for family in families)
    print(f"metrics: {len(families)} families of {series} samples, as Prometheus wants them")


if __name__ == "__main__":
    main()
