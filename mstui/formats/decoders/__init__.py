"""Drop-in folder: one file per format, each declares FORMAT."""
