"""Evidence, one family a file: each declares FAMILY. See mstui.checks.evidence_base."""
