"""The figures that reading is bounded by, each with its reason."""

from __future__ import annotations

from typing import NamedTuple

KIB = 1024
MIB = 1024 * KIB


class ReadLimits(NamedTuple):
    """Bytes and seconds of reading one file."""

    block: int = 4 * MIB
    """read and decoded at once: large enough that the decoders' fixed costs vanish, small enough for a turn"""
    text_block: int = 256 * KIB
    """the same for text logs, of which a line may cost ten times what as many bytes of an event file do"""
    record: int = 64 * MIB
    """a longer record is skipped by its checked length; tensors of ten million elements still fit"""
    tail_first_above: int = 1 * MIB
    """a smaller file is read in one go, which takes less than finding a record boundary near its end is worth"""
    tail: int = 256 * KIB
    """first try for the end of a large file: hundreds of scalar records, or a hundred histograms"""
    prime: int = 64 * KIB
    """of the beginning are decoded, for the decoder to learn from, before a tail is: TensorBoard's writers may say only
    in the first record of a tag what kind it is"""
    tail_most: int = 16 * MIB
    """without a record boundary in so many bytes the file is read from its beginning"""
    condemn_looks: int = 3
    """a wrong checksum at the end must be seen this often, unchanged, before it is called damage"""
    condemn_after_s: float = 10.0
    """and for so long: network file systems show zeros for seconds where data is on its way"""
    recheck_s: float = 1.0
    """pause between two looks at a suspect record"""
    settle_s: float = 1.0
    """a writer takes the write permission away before its last bytes are out"""
    born_most: int = 64 * KIB
    """a log that comes up while its run is followed and is not longer than this is as new as its mtime says; a longer
    one may have been copied here"""
    quiet_s: float = 10.0
    """after so long a silence of its writer even a short log is said not to be understood"""
    racy_s: float = 2.0
    """a file read this soon after its mtime is checked once more: a coarse clock may hide a second change"""
    denied_retry_s: float = 10.0
    retry_first_s: float = 1.0
    """first pause after an error of the operating system; doubled each time"""
    retry_most_s: float = 60.0
