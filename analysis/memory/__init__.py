"""What was allocated, where the recording tells (``profile_memory``): peak, places, churn.

``events`` reads the ``[memory]`` events of one allocator, ``places`` finds what allocated,
``usage`` puts both together for the report.
"""
