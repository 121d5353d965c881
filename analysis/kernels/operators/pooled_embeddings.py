"""What FBGEMM does with looked-up embeddings: it puts their columns into another order.

The look-ups themselves have no model: how many rows they read and how wide those are is in
tensors whose values no recording holds.
"""

from __future__ import annotations

from whichlayer.analysis.kernels.calls import OpCall
from whichlayer.analysis.kernels.work import Work, operator


@operator(
    "fbgemm::permute_pooled_embs",
    "fbgemm::permute_pooled_embs_auto_grad",
    "fbgemm::recat_embedding_grad_output",
    "fbgemm::recat_embedding_grad_output_mixed_D",
    "fbgemm::recat_embedding_grad_output_mixed_D_batch",
    "torch::autograd::CppNode<fbgemm_gpu::PermutePooledEmbsFunction"
    "<&fbgemm_gpu::permute_pooled_embs_gpu> >",
)
def permuted(call: OpCall) -> Work:
    """X of [batch, columns], and lists of where the columns go."""
    x = call.need(0)
    lists = sum(tensor.bytes for tensor in call.tensors(1))
    return Work(bytes=x.bytes + x.count * x.item_bytes + lists, category="copy")
