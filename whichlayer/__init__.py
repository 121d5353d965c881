"""Which layer keeps the GPU waiting, answered from a profiler trace in a terminal."""
