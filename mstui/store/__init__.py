"""Every point kept, and the reduced views of it."""
