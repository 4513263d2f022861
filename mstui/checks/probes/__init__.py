"""Probes, one a file: each declares PROBE. See mstui.checks.probe_base."""
