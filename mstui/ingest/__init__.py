"""Files to bytes to records: discovery, tailing, watching."""
