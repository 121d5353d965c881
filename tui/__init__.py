"""Everything that is seen and typed: the Textual application and the command line."""
