"""The trace as columns, and how raw events become it."""
