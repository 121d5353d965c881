"""What FBGEMM does around look-ups of embeddings: checks, offsets, columns in another order.

The look-ups themselves have no model: how many rows they read and how wide those are is in
tensors whose values no recording holds.
"""

from __future__ import annotations

from whichlayer.analysis.kernels.calls import OpCall, Unknown
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


@operator(
    "fbgemm::permute_sparse_features",
    "fbgemm::permute_1D_sparse_data",
    "fbgemm::permute_2D_sparse_data",
)
def permuted_values(call: OpCall) -> Work:
    """Permutation of features, their lengths, values, [weights], how many values result.

    Features may be taken several times or not at all, so the values written are known only where
    their number is recorded.
    """
    order, lengths, values = call.need(0), call.need(1), call.need(2)
    written = call.number(4)
    if written is None or not 0 <= written < 1 << 48 or not lengths.shape:
        raise Unknown("features may be taken several times: how many values result is not recorded")
    weights = call.tensor(3)
    item = values.item_bytes + (weights.item_bytes if weights and weights.shape else 0)
    results = order.count * (lengths.count // lengths.shape[0] if lengths.shape[0] else 0)
    return Work(
        bytes=order.bytes + lengths.bytes + results * lengths.item_bytes
        + (min(int(written), values.count) + int(written)) * item,
        category="copy",
    )  # fmt: skip
