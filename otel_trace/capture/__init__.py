"""Where things are noticed: decorators and blocks around the user's code."""
