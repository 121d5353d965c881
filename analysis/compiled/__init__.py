"""What torch.compile made: regions, breaks, recompiles, Triton kernels, and its share of time.

``regions`` counts compiled graphs, ``breaks`` the places between them, ``compiles`` the times
the program compiled, ``triton`` the generated kernels, ``share`` compiled against eager;
``report`` puts them together.
"""
