"""Finding slices by name, kind, lane, duration, family, shapes or arguments.

Nothing here knows a screen: :func:`~whichlayer.analysis.search.query.parse_query` makes a
query of what was typed, :class:`~whichlayer.analysis.search.matcher.Matcher` answers it on a
trace, and :class:`~whichlayer.analysis.search.hits.Hits` is the answer in order of time.
"""
