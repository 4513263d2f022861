"""What the machine says of its NPUs: the command's text, and the thread that asks for it."""
