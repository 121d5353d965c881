"""Reading a part of a large recording: some of its steps, or a span of time."""
