"""Finds out whether a training is ill: rules over points, without files, clocks or screens."""
