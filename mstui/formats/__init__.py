"""Bytes to records. Nothing here opens a file or looks at a clock."""
