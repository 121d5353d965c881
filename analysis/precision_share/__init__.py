"""In which precision products ran, and both halves of the fix.

``shares`` sums the time of matmuls, convolutions and attention by precision, ``by_name`` reads
it from a kernel's name where no operand types are recorded, ``advice`` says what to change
above (autocast and flags) and what the card supports below.
"""
