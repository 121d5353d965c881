"""Bytes and flops by operator, one family per module."""
