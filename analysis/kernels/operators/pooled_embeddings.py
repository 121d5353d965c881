"""What FBGEMM does around look-ups of embeddings: checks, offsets, columns in another order.

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


@operator("fbgemm::bounds_check_indices")
def bounds_check(call: OpCall) -> Work:
    """Rows of each table, indices, offsets: all of them are read; only wrong ones are written."""
    return Work(bytes=sum(call.need(index).bytes for index in range(3)), category="reduction")


@operator("fbgemm::asynchronous_complete_cumsum", "fb::asynchronous_complete_cumsum")
def complete_cumsum(call: OpCall) -> Work:
    """X of n, or rows of n: one more is written for each row."""
    x = call.need(0)
    rows = x.shape[0] if len(x.shape) > 1 else 1
    return Work(bytes=x.bytes + (x.count + rows) * x.item_bytes, category="reduction")
