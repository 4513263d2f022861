"""The hand-written histogram decoder against protobuf's own."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any, List, Optional, Tuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.formats.payloads import PayloadError, histogram, histogram_stats

_FIELD = descriptor_pb2.FieldDescriptorProto


@lru_cache(maxsize=1)
def message_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="test_histogram.proto", package="t", syntax="proto2")
    bucket = file.message_type.add(name="Bucket")
    for name, number, kind in (
        ("left", 1, _FIELD.TYPE_DOUBLE),
        ("width", 2, _FIELD.TYPE_DOUBLE),
        ("count", 3, _FIELD.TYPE_INT64),
    ):
        bucket.field.add(name=name, number=number, type=kind, label=_FIELD.LABEL_OPTIONAL)
    whole = file.message_type.add(name="Histogram")
    whole.field.add(
        name="buckets", number=1, type=_FIELD.TYPE_MESSAGE, label=_FIELD.LABEL_REPEATED, type_name=".t.Bucket"
    )
    for name, number in (("nan_count", 2), ("pos_inf_count", 3), ("neg_inf_count", 4), ("count", 8)):
        whole.field.add(name=name, number=number, type=_FIELD.TYPE_INT64, label=_FIELD.LABEL_OPTIONAL)
    for name, number in (("max", 5), ("min", 6), ("sum", 7)):
        whole.field.add(name=name, number=number, type=_FIELD.TYPE_DOUBLE, label=_FIELD.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    described = pool.FindMessageTypeByName("t.Histogram")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(described)
    return message_factory.MessageFactory(pool).GetPrototype(described)


counts = st.integers(0, 2**62)
numbers = st.floats(allow_nan=False)
buckets = st.lists(st.tuples(st.none() | numbers, st.none() | numbers, st.none() | counts), max_size=100)


@given(
    buckets, st.lists(st.none() | counts, min_size=4, max_size=4), st.lists(st.none() | numbers, min_size=3, max_size=3)
)
@settings(max_examples=200, deadline=None)
def test_it_reads_what_protobuf_wrote(
    rows: List[Tuple[Optional[float], Optional[float], Optional[int]]],
    ints: List[Optional[int]],
    edges: List[Optional[float]],
) -> None:
    message = message_class()()
    for left, width, count in rows:
        bucket = message.buckets.add()
        for name, value in (("left", left), ("width", width), ("count", count)):
            if value is not None:
                setattr(bucket, name, value)
    for name, value in zip(
        ("nan_count", "pos_inf_count", "neg_inf_count", "count", "max", "min", "sum"), [*ints, *edges]
    ):
        if value is not None:
            setattr(message, name, value)
    data = message.SerializeToString()
    got = histogram(data, "mindspore", 3, 4.0)
    assert got.lefts.tolist() == [bucket.left for bucket in message.buckets]
    assert got.widths.tolist() == [bucket.width for bucket in message.buckets]
    assert got.counts.tolist() == [bucket.count for bucket in message.buckets]
    stats = got.stats
    assert (stats.count, stats.nan_count) == (message.count, message.nan_count)
    assert (stats.pos_inf_count, stats.neg_inf_count) == (message.pos_inf_count, message.neg_inf_count)
    for value, name in ((stats.maximum, "max"), (stats.minimum, "min")):
        assert value == getattr(message, name) if message.HasField(name) else np.isnan(value)
    finite = message.count - message.nan_count - message.pos_inf_count - message.neg_inf_count
    if finite > 0 and message.HasField("sum"):
        assert stats.mean == message.sum / finite
    else:
        assert np.isnan(stats.mean)
    assert repr(histogram_stats(data, "mindspore", 3, 4.0)) == repr(stats)


@given(st.binary(max_size=400), st.sampled_from(["mindspore", "tensorboard"]))
@settings(max_examples=300, deadline=None)
def test_any_other_bytes_give_a_histogram_or_one_kind_of_error(data: bytes, dialect: str) -> None:
    with suppress(PayloadError):
        histogram(data, dialect, 1, 1.0)
    with suppress(PayloadError):
        histogram_stats(data, dialect, 1, 1.0)
