"""Steps: where each lies, what it took, what its phases are, and which one is unlike the others."""
