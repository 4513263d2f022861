"""`python -m mstui`."""

from __future__ import annotations

from mstui.cli import main

if __name__ == "__main__":
    main()
