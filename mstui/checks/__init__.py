"""Causes of incidents ordered by evidence, checks that answer themselves, and guided checks that a person answers."""
