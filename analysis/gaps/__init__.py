"""Gaps: stretches in which a device computes nothing, and who is to blame for each."""
