"""Replays the recorded schedule without a cause, to tell what its removal would gain.

What a thread does between two calls, what a kernel takes and in which order work is queued
stay as recorded; when each thing happens is worked out anew: launches, streams, events,
blocking calls and full queues hold each other up. See ``docs/accounting.md``.
"""
