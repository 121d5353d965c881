"""How far the host is ahead of each device: launch delay, queue depth, launches per step.

``calls`` gathers what each launch call put on a device, ``depth`` is how many of them are
unfinished at any instant, ``series`` both over time in a bounded number of bins, ``view`` the
figures that the report prints.
"""
