"""Embedders, rerankers and synthesis behind small protocols."""

import os

# As soon as it is imported, onnxruntime would write a device id into the home folder and send
# events. It asks the environment, and only then.
os.putenv("ORT_DISABLE_TELEMETRY", "1")
