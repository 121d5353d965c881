"""Collectives and copies: what they cost, how fast they are, and which rank is late."""
