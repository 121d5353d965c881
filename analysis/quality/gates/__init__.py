"""The gates, one module each; see :mod:`whichlayer.analysis.quality.gate`."""
