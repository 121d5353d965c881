"""A small simulator of PyTorch programs on a GPU that writes traces as Kineto does."""
