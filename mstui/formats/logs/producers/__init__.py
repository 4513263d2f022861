"""One file per program that prints training metrics. A file declares PRODUCER; it is picked up by being here."""
