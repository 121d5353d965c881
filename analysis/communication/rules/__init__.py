"""Rules about the collectives of several ranks, one module each."""
