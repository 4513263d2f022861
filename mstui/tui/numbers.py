"""Numbers, durations, ages, counts and sizes as short ASCII text of a bounded width.

Everything here is made to be drawn again and again on a slow link: texts are coarse enough to change seldom, and never
wider than promised. What is not a finite number has a name. It refuses to translate: units are symbols, not words.
"""

from __future__ import annotations

import math
import time

NAN, POS_INF, NEG_INF = "NaN", "+Inf", "-Inf"
NO_CLOCK = "--:--:--"
"""a wall time that no calendar holds"""
TOO_NARROW = "#"
"""fills the width where no honest text of a number fits, as spreadsheets do"""

MAX_DIGITS = 5
"""significant digits of a number that is not whole: what a loss is quoted with"""
FIXED_FROM, FIXED_TO = 1e-3, 1e6
"""magnitudes that are written without an exponent"""
EXACT_TO = 1e15
"""whole numbers below this are exact in a float and are written in full where there is room"""

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_AGE_BUCKETS = (5, 10, 20, 30, 45)
_COUNT_EXACT_TO = 10_000
_COUNT_UNITS = "kMGTPE"
_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def number(value: float, width: int) -> str:
    """The value in at most `width` characters, with as many digits as fit: `1.3127`, `1.7e4`, `-Inf`.

    Where not even one digit fits, `width` times "#": a cut number would be another number.
    """
    if not math.isfinite(value):
        return _fitting(_name(value), width)
    if value == int(value) and abs(value) < EXACT_TO:
        whole = str(int(value))
        if len(whole) <= width:
            return whole
    fixed = FIXED_FROM <= abs(value) < FIXED_TO
    for digits in range(MAX_DIGITS, 0, -1):
        short = _exponent(value, digits)
        if fixed:
            plain = _fixed(value, digits)
            if len(plain) <= width:
                return plain
        if len(short) <= width:
            return short
    return TOO_NARROW * max(width, 0)


def duration(seconds: float) -> str:
    """A length of time in at most 7 characters (8 with a sign): `850us`, `212ms`, `1.5s`, `42s`, `12m05s`, `3h12m`."""
    if not math.isfinite(seconds):
        return _name(seconds)
    sign = "-" if seconds < 0 else ""
    return sign + _duration(abs(seconds))


def age(seconds: float) -> str:
    """How long ago something was, in at most 5 characters and in coarse steps, so that the text seldom changes.

    `<5s 5s 10s 20s 30s 45s 1m .. 59m 1h .. 23h 1d ..`, each the time that has passed at least. A negative age (the
    clocks of two machines differ) reads as the youngest.
    """
    if math.isnan(seconds):
        return NAN
    if seconds == math.inf:
        return POS_INF
    if seconds < _AGE_BUCKETS[0]:
        return f"<{_AGE_BUCKETS[0]}s"
    if seconds < _MINUTE:
        return f"{max(bucket for bucket in _AGE_BUCKETS if bucket <= seconds)}s"
    if seconds < _HOUR:
        return f"{int(seconds // _MINUTE)}m"
    if seconds < _DAY:
        return f"{int(seconds // _HOUR)}h"
    return _days(seconds)


def count(n: int) -> str:
    """A number of things, or a step, in at most 5 characters (6 with a sign): `9999`, `12.5k`, `1.25M`, `>999E`."""
    sign, n = ("-", -n) if n < 0 else ("", n)
    if n < _COUNT_EXACT_TO:
        return f"{sign}{n}"
    scale = 1
    for unit in _COUNT_UNITS:
        scale *= 1000
        # Whole numbers throughout: an int may be larger than any float.
        for decimals in (2, 1, 0):
            if n < 10 ** (3 - decimals) * scale:
                head, tail = divmod(n * 10**decimals // scale, 10**decimals)
                return f"{sign}{head}.{tail:0{decimals}}{unit}" if decimals else f"{sign}{head}{unit}"
    return f"{sign}>999{_COUNT_UNITS[-1]}"


def data_size(n: int) -> str:
    """A number of bytes in at most 8 characters (9 with a sign): `512 B`, `1.2 KiB`, `1023 MiB`."""
    sign, n = ("-", -n) if n < 0 else ("", n)
    if n < 1024:
        return f"{sign}{n} B"
    scale = 1
    for unit in _SIZE_UNITS[1:]:
        scale *= 1024
        if n < 10 * scale:
            head, tail = divmod(n * 10 // scale, 10)
            return f"{sign}{head}.{tail} {unit}"
        if n < 1024 * scale:
            return f"{sign}{n // scale} {unit}"
    return f"{sign}>1023{_SIZE_UNITS[-1]}"


def clock(wall_time: float) -> str:
    """Local time of day as HH:MM:SS, 8 characters; dashes for a time that no calendar holds."""
    try:
        return time.strftime("%H:%M:%S", time.localtime(wall_time))
    except (ValueError, OverflowError, OSError):
        return NO_CLOCK


def moment(wall_time: float) -> str:
    """Local date and time as YYYY-MM-DD HH:MM:SS; dashes for a time that no calendar holds."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(wall_time))
    except (ValueError, OverflowError, OSError):
        return NO_CLOCK


def _name(value: float) -> str:
    return NAN if math.isnan(value) else POS_INF if value > 0 else NEG_INF


def _fitting(name: str, width: int) -> str:
    if len(name) <= width:
        return name
    bare = name.lstrip("+")
    return bare if len(bare) <= width else TOO_NARROW * max(width, 0)


def _fixed(value: float, digits: int) -> str:
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _exponent(value: float, digits: int) -> str:
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(power)}"


def _duration(seconds: float) -> str:
    if seconds == 0:
        return "0s"
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.0f}us"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.0f}ms"
    if seconds < 9.95:
        return f"{seconds:.1f}s"
    whole = int(seconds + 0.5)
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02}m"
    if whole < 1000 * _DAY:
        return f"{whole // _DAY}d{whole % _DAY // _HOUR:02}h"
    return _days(seconds)


def _days(seconds: float) -> str:
    days = int(seconds // _DAY)
    return f"{days}d" if days < _COUNT_EXACT_TO else ">27y"
