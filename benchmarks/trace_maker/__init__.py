"""Makes big traces such as PyTorch writes: one simulated training program in any size."""
