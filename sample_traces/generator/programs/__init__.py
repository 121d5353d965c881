"""The simulated programs, one per sample."""
