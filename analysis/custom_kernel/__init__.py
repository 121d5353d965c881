"""Whether a custom kernel is justified, for every chain of kernels that it could replace.

``chains`` finds the chains, ``captured``, ``worth`` and ``shapes`` answer the three questions,
``verdicts`` puts them together.
"""
