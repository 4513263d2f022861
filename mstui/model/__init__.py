"""Leaf types shared by every part: values that cross threads, frozen, without behaviour beyond their invariants."""
