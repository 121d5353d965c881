"""The live screen: the windows of a running program, or of a folder, as they come."""
