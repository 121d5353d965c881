"""Following what is still being written: folders into which traces are dropped, files that grow."""
