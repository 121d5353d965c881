"""The rules that explain a slow kernel, one module each; see :mod:`whichlayer.analysis.rule`."""
