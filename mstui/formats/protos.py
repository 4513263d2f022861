"""Message classes for the payloads that are decoded only when somebody looks, built in code in a private pool.

Every text field is declared as bytes (the wire is the same): what a file claims to be UTF-8 need not be. Maps are
declared as the repeated entries that they are on the wire. Works with protobuf 3.20 to 7, which must not be imported
before it is needed: it costs 70 ms.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Dict, List, Tuple

_PACKAGE = "mstui.payloads"

_SCHEMA: Dict[str, List[Tuple[str, int, str]]] = {
    "HyperParameters": [
        ("optimizer", 1, "bytes"),
        ("learning_rate", 2, "float"),
        ("loss_function", 3, "bytes"),
        ("epoch", 4, "int32"),
        ("parallel_mode", 5, "bytes"),
        ("device_num", 6, "int32"),
        ("batch_size", 8, "int32"),
    ],
    "TrainDataset": [("train_dataset_path", 1, "bytes"), ("train_dataset_size", 2, "int32")],
    "Algorithm": [("network", 1, "bytes"), ("loss", 2, "float")],
    "Model": [("path", 3, "bytes"), ("size", 4, "int64")],
    "TrainLineage": [
        ("hyper_parameters", 1, "HyperParameters"),
        ("train_dataset", 2, "TrainDataset"),
        ("algorithm", 3, "Algorithm"),
        ("model", 4, "Model"),
    ],
    "ValidDataset": [("valid_dataset_path", 1, "bytes"), ("valid_dataset_size", 2, "int32")],
    "EvaluationLineage": [("metric", 2, "bytes"), ("valid_dataset", 3, "ValidDataset")],
    "BytesEntry": [("key", 1, "bytes"), ("value", 2, "bytes")],
    "Int32Entry": [("key", 1, "bytes"), ("value", 2, "int32")],
    "BoolEntry": [("key", 1, "bytes"), ("value", 2, "bool")],
    "DoubleEntry": [("key", 1, "bytes"), ("value", 2, "double")],
    "StrList": [("str_value", 1, "bytes*")],
    "StrListEntry": [("key", 1, "bytes"), ("value", 2, "StrList")],
    "InfoEntry": [("key", 1, "bytes"), ("value", 2, "UserDefinedInfo")],
    "UserDefinedInfo": [
        ("user_info", 1, "UserDefinedInfo*"),
        ("map_dict", 2, "InfoEntry*"),
        ("map_int32", 3, "Int32Entry*"),
        ("map_str", 4, "BytesEntry*"),
        ("map_double", 5, "DoubleEntry*"),
    ],
    "OperationParameter": [
        ("map_str", 1, "BytesEntry*"),
        ("map_str_list", 2, "StrListEntry*"),
        ("map_bool", 3, "BoolEntry*"),
        ("map_int", 4, "Int32Entry*"),
        ("map_double", 5, "DoubleEntry*"),
    ],
    "Operation": [
        ("parameter", 1, "OperationParameter"),
        ("size", 2, "int32*"),
        ("weights", 3, "float*"),
    ],
    "DatasetGraph": [
        ("children", 1, "DatasetGraph*"),
        ("parameter", 2, "OperationParameter"),
        ("operations", 3, "Operation*"),
        ("sampler", 4, "Operation"),
    ],
    "ParameterProto": [("name", 1, "bytes")],
    "GraphProto": [("name", 2, "bytes"), ("parameters", 3, "ParameterProto*")],
    "TensorProto": [
        ("dims", 1, "int64*"),
        ("data_type", 2, "int32"),
        ("float_data", 3, "float*"),
        ("int32_data", 4, "int32*"),
        ("int64_data", 5, "int64*"),
        ("double_data", 6, "double*"),
        ("uint64_data", 7, "uint64*"),
        ("raw_data", 8, "bytes"),
    ],
}
"""fields of each message: name, number, type; a star means repeated. Numbers are MindSpore's."""


@lru_cache(maxsize=1)
def _messages() -> Dict[str, Any]:
    # MindSpore sets this in its process and its children: the pure-Python protobuf is 500 times slower
    os.environ.pop("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", None)
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field_type = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="mstui_payloads.proto", package=_PACKAGE, syntax="proto2")
    for name, content in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for field_name, number, kind in content:
            repeated = kind.endswith("*")
            kind = kind.rstrip("*")
            field = message.field.add(name=field_name, number=number)
            field.label = field_type.LABEL_REPEATED if repeated else field_type.LABEL_OPTIONAL
            if kind in _SCHEMA:
                field.type = field_type.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
            else:
                field.type = getattr(field_type, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    described = {name: pool.FindMessageTypeByName(f"{_PACKAGE}.{name}") for name in _SCHEMA}
    if hasattr(message_factory, "GetMessageClass"):
        return {name: message_factory.GetMessageClass(found) for name, found in described.items()}
    factory = message_factory.MessageFactory(pool)
    return {name: factory.GetPrototype(found) for name, found in described.items()}


def parse(name: str, data: bytes) -> Any:
    """The message `name` from its bytes. Raises google.protobuf.message.DecodeError (a plain Exception subclass)."""
    return _messages()[name].FromString(data)


def message(name: str) -> Any:
    """An empty message `name`."""
    return _messages()[name]()
