"""What ties a program to one vendor: libraries by name, and how the program reaches them.

``libraries`` tells a library by its kernels' names, ``reach`` whether PyTorch's own operators
stand between it and the model, ``inventory`` what share of the busy time each has.
"""
