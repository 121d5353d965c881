"""The widgets of the screen, one per file."""
