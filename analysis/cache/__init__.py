"""Traces that were read before, kept as columns, so that they open at once.

One file per trace in the user's cache folder. It holds what the reader made of the trace and
nothing of the analysis; it may be deleted at any time, and is never trusted: what is stale,
damaged, foreign or does not add up is read anew from the trace.

| module | what it does |
|---|---|
| ``location`` | where the folder is, how large it may become |
| ``identity`` | tells whether a trace is still the file that was read |
| ``version`` | tells whether the reader is still the one that read it |
| ``file_layout`` | arrays and a header in one file, with checksums |
| ``contents`` | a trace as such arrays and header, and back |
| ``checks`` | whether columns from a file can be used without harm |
| ``entries`` | the files in the folder: listing, bounding, clearing |
| ``later_arguments`` | reads the arguments of a reopened trace from its file |
| ``reuse`` | finds the entry of a trace, and writes one |
"""
