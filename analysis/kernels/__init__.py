"""Below PyTorch: what each kernel has to do, how fast this card could do it, what is lost.

The way of a recording through this folder: ``calls`` reads an operator's arguments,
``operators/`` turns them into bytes and flops (``work``), ``peaks`` says what the card can do,
``units`` gathers the kernels of one call, ``populations`` the calls of one kind, ``ruling``
and ``rules/`` say what is wrong with them, ``judge`` brings it back to single activities and
``groups`` into the table that people read.
"""
