"""Drop-in folder: one file per panel, each declares PANEL."""
