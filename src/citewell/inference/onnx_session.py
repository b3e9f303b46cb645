"""Open and run onnxruntime sessions; its errors become ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from citewell.core.errors import InferenceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from citewell.inference.protocols import Vectors

_ERRORS_ONLY = 3
# onnxruntime's errors share no base class; its Python side adds the last two.
_FAILURES = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NoModel,
    ort_errors.NoSuchFile,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
    RuntimeError,
    ValueError,
)


def open_session(model: bytes | str, *, optimize: bool = False) -> onnxruntime.InferenceSession:
    """Return a session for a model's bytes or file, running on the thread that calls it.

    Texts are embedded side by side, one thread each: that scales better than splitting one text,
    and leaves no pool of spinning threads behind.

    Raises:
        InferenceError: the model is damaged or uses what this onnxruntime does not know.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Plans of memory use are kept per input length, and every text has another length.
    options.enable_mem_pattern = False
    options.log_severity_level = _ERRORS_ONLY
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except _FAILURES as error:
        raise InferenceError("the model cannot be loaded by onnxruntime") from error


def run_session(
    session: onnxruntime.InferenceSession,
    inputs: Mapping[str, npt.NDArray[np.generic]],
    outputs: Sequence[str] | None = None,
) -> list[Vectors]:
    """Return the outputs of the model, all or those that are named.

    Raises:
        InferenceError: the model does not fit its inputs.
    """
    try:
        values: list[Vectors] = session.run(outputs, dict(inputs))
    except _FAILURES as error:
        raise InferenceError("the model failed to run") from error
    return values
