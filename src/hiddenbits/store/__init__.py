"""Model files: one safetensors file, checked completely before its content is used, and replaced atomically.

This package knows nothing of models: it stores a ``kind``, a JSON ``meta`` and named arrays. The caller checks the
kind, and which arrays it needs.
"""

from hiddenbits.store.files import Stored, check_target, make_folder, read, whole_file, write, writing
from hiddenbits.store.folders import whole_folder
from hiddenbits.store.header import DEFAULT_LIMITS, Limits
from hiddenbits.store.json import JSON

__all__ = [
    "DEFAULT_LIMITS",
    "JSON",
    "Limits",
    "Stored",
    "check_target",
    "make_folder",
    "read",
    "whole_file",
    "whole_folder",
    "write",
    "writing",
]
