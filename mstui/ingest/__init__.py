"""From a path on disk to batches of records: what is there, what grew, and how it is noticed.

Knows files and formats; knows nothing of the store, of screens, or of what a tag means. Only `watch` imports watchdog.
"""
