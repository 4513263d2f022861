"""Tables of statistics that tools write beside a training (CSV): read by the names of their columns."""
