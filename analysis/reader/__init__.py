"""From bytes to a :class:`~whichlayer.analysis.trace.columns.Trace`."""
