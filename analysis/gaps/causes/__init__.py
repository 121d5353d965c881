"""The causes of gaps, one module each; see :mod:`whichlayer.analysis.rule`."""
