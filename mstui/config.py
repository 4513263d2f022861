r"""What a person has set: read from TOML, checked, handed on as one frozen value. Also the view that comes back.

Three places, the nearest wins key by key: the user's config directory, `.mstui.toml` in the working directory, and the
file named by --config. It never reads settings from the directory being watched: what lies there was written by others.

Logs of a form that nobody knows are read with patterns of one's own, tried before the known forms:

    [[log_pattern]]
    name = "mine"
    pattern = 'step (?P<step>\d+) .*loss (?P<loss>[-+.\de]+)'
    files = "*.txt"

`files` is optional: shell wildcards for a file's name, or for its path where they hold a slash. What the named groups
mean, and what of regular expressions can be used, is told by mstui.formats.logs.own_patterns, which also compiles them.

Rules are set by their names, for all tags or for some; `mstui rules` lists them. What a curve is supposed to do can be
said where its name does not tell:

    [rules."loss-spike"]
    sigmas = 8
    [rules."loss-spike".tags."aux/*"]
    enabled = false
    [objectives]
    "elbo*" = "signed"

Names of rules and thresholds are checked by mstui.monitor.rulebook, which knows them.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass, field, fields, replace
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Union

from mstui.errors import ConfigError
from mstui.i18n import LANGUAGES, _, normalize
from mstui.model.log_patterns import LogPattern, parse_log_patterns
from mstui.model.roles import Role
from mstui.model.rule_settings import RuleSetting, parse_rules

APP = "mstui"
CONFIG_NAME = "config.toml"
LOCAL_NAME = ".mstui.toml"

WATCH_MODES = ("auto", "events", "poll")
X_AXES = ("step", "epoch", "relative", "wall")
"""Values of mstui.model.series.XAxis, which cannot be imported here without numpy"""
OBJECTIVES = ("descending", "signed", "adversarial", "reward", "unordered")
"""Values of mstui.detect.naming.Objective"""

SAVED = "@"
"""First character of a filter that names a saved one; no tag begins with it"""
MAX_REFRESH_HZ = 10.0
"""More redraws a second than this only cost bytes: nobody reads faster"""
MAX_SMOOTHING = 0.99
VIEW_LIMIT = 1_000_000
"""Bytes of a stored view that are read; a real one has a few thousand"""

StrMap = Mapping[str, str]


@dataclass(frozen=True)
class Settings:
    """Everything that can be set. None means "decide from the surroundings"."""

    lang: Optional[str] = None
    """"en" or "zh_CN"; None follows the locale"""
    theme: Optional[str] = None
    """name of a theme file without .toml; None is the default theme"""
    ascii: Optional[bool] = None
    """draw with ASCII only; None: when the output encoding is not UTF-8"""
    mouse: bool = True
    """let the terminal report the mouse; off leaves selecting text to the terminal"""
    bell: bool = True
    """ring the terminal's bell when a new critical alert is raised"""
    title: bool = False
    """say the worst active alert in the terminal's title"""
    low_bandwidth: Optional[bool] = None
    """few colours, no animation, a redraw every two seconds; None: under SSH"""
    watch: str = "auto"
    """how changes are noticed: "auto", "events" or "poll" """
    refresh_hz: float = 2.0
    """redraws a second, at most"""
    smoothing: float = 0.6
    """weight of the past in the exponential average of curves, 0 to 0.99"""
    x_axis: str = "step"
    """"step", "epoch", "relative" or "wall" """
    stale_after_s: Optional[float] = None
    """seconds without new data before a live run is called stale; None: from the run's own rhythm"""
    total_steps: Optional[int] = None
    """steps that the training is meant to take, for progress and ETA; None: from the lineage if it says so"""
    roles: StrMap = field(default_factory=dict)
    """tag pattern (shell wildcards) to role name, before the built-in rules"""
    keys: Mapping[str, Tuple[str, ...]] = field(default_factory=dict)
    """action id to keys; an empty list takes the action's keys away"""
    filters: StrMap = field(default_factory=dict)
    """saved filters, name to expression; `--filter @name` begins with one"""
    log_pattern: Tuple[LogPattern, ...] = ()
    """patterns for logs of a form that nobody knows, those of the nearest file first"""
    rules: Tuple[RuleSetting, ...] = ()
    """thresholds and switches of the rules, those of the nearest file last"""
    objectives: StrMap = field(default_factory=dict)
    """tag pattern (shell wildcards) to what its curve is supposed to do, instead of what its name suggests"""
    filter: str = ""
    """tag filter to begin with"""
    run: Optional[str] = None
    """run key to begin with; None: the newest"""
    rank: Optional[int] = None
    """rank_id to begin with; None: the lowest"""
    state_dir: str = ""
    """directory for views, exports and replays; empty only in tests that need none"""
    origins: StrMap = field(default_factory=dict, compare=False)
    """the file that says it, by name of a setting, and of single keys by `keys.<action id>`: for messages"""
    given: Tuple[str, ...] = ()
    """names of the settings that this call's command line gave: they win over the view that comes back"""


def read_toml(path: str) -> Dict[str, Any]:
    """A TOML file as plain values. Raises ConfigError naming the file, and the line where the parser knows it."""
    try:
        with open(path, "rb") as stream:
            text = stream.read().decode("utf-8")
    except OSError as error:
        raise ConfigError(error.strerror or str(error), path, _("Check the path and its permissions.")) from error
    except UnicodeDecodeError as error:
        raise ConfigError(_("not UTF-8 text"), path, _("Save the file as UTF-8.")) from error
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return dict(parser.loads(text))
    except ValueError as error:
        raise ConfigError(_("not valid TOML: {error}").format(error=error), path) from error


def nearest(word: str, known: Iterable[str]) -> str:
    """The remedy for a misspelt name: the nearest known one, or all of them; nothing where there is none."""
    import difflib  # only on the way to an error message

    names = sorted(known)
    if not names:
        return ""
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if close:
        return _('Did you mean "{name}"?').format(name=close[0])
    return _("Known names: {names}").format(names=", ".join(names))


# --- checks of single values: each returns the value to keep, or raises ValueError saying what is expected


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(_("true or false"))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(_("a text"))


def _language(value: object) -> str:
    code = normalize(value) if isinstance(value, str) else None
    if code is None:
        raise ValueError(_("one of {names}").format(names=", ".join(LANGUAGES)))
    return code


def _one_of(names: Tuple[str, ...]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if isinstance(value, str) and value in names:
            return value
        raise ValueError(_("one of {names}").format(names=", ".join(names)))

    return check


def _number(low: float, high: float) -> Callable[[object], float]:
    def check(value: object) -> float:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        raise ValueError(_("a number from {low:g} to {high:g}").format(low=low, high=high))

    return check


def _count(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise ValueError(_("a whole number above 0"))


def _table(check: Callable[[object], Any]) -> Callable[[object], Dict[str, Any]]:
    def check_table(value: object) -> Dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(_("a table"))
        return {key: entry(key, item) for key, item in value.items()}

    def entry(key: str, item: object) -> Any:
        try:
            return check(item)
        except ValueError as error:
            raise ValueError(f"{key} = {error}") from error

    return check_table


def _keys(value: object) -> Tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(key, str) for key in value):
        return tuple(value)
    raise ValueError(_("a key or a list of keys"))


def _any_table(value: object) -> Dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError(_("a table"))


def _list_of_tables(value: object) -> Tuple[Dict[str, Any], ...]:
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        return tuple(value)
    raise ValueError(_("tables, each headed by [[log_pattern]]"))


_CHECKS: Mapping[str, Callable[[object], Any]] = {
    "lang": _language,
    "theme": _text,
    "ascii": _boolean,
    "mouse": _boolean,
    "bell": _boolean,
    "title": _boolean,
    "low_bandwidth": _boolean,
    "watch": _one_of(WATCH_MODES),
    "refresh_hz": _number(0.1, MAX_REFRESH_HZ),
    "smoothing": _number(0.0, MAX_SMOOTHING),
    "x_axis": _one_of(X_AXES),
    "stale_after_s": _number(0.1, 7 * 86400.0),
    "total_steps": _count,
    "roles": _table(_one_of(tuple(role.value for role in Role))),
    "keys": _table(_keys),
    "filters": _table(_text),
    "log_pattern": _list_of_tables,
    "rules": _table(_any_table),
    "objectives": _table(_one_of(OBJECTIVES)),
}
"""What a configuration file may hold. The other fields of Settings belong to one call only."""

_MERGED = ("roles", "keys", "filters", "objectives")
"""Tables of which a nearer file replaces single entries, not the whole"""


def apply(settings: Settings, table: Mapping[str, Any], where: str) -> Settings:
    """Settings with the values of one file over them. Raises ConfigError naming the file and the key."""
    changes: Dict[str, Any] = {}
    for key, value in table.items():
        check = _CHECKS.get(key)
        if check is None:
            raise ConfigError(_('unknown key "{key}"').format(key=key), where, nearest(key, _CHECKS))
        try:
            changes[key] = check(value)
        except ValueError as error:
            what = _('key "{key}" cannot be {value!r}').format(key=key, value=value)
            raise ConfigError(what, where, _("Expected: {expected}").format(expected=error)) from error
        if key in _MERGED:
            changes[key] = {**getattr(settings, key), **changes[key]}
    if "log_pattern" in changes:
        nearer = parse_log_patterns(changes["log_pattern"], where, nearest)
        names = {pattern.name for pattern in nearer}
        farther = tuple(pattern for pattern in settings.log_pattern if pattern.name not in names)
        changes["log_pattern"] = (*nearer, *farther)
    if "rules" in changes:
        changes["rules"] = (*settings.rules, *parse_rules(changes["rules"], where))
    said = (*changes, *(f"keys.{action}" for action in table.get("keys", ())))
    return replace(settings, **changes, origins={**settings.origins, **dict.fromkeys(said, where)})


def override(settings: Settings, **options: Any) -> Settings:
    """Settings with the options of the command line over them; None leaves a setting as it is.

    A filter "@name" is looked up among the saved ones. Raises ConfigError when it is not there.
    """
    known = {f.name for f in fields(Settings)}
    assert known.issuperset(options), options
    said = {key: value for key, value in options.items() if value is not None}
    name = said.get("filter", "")
    if name.startswith(SAVED):
        name = name[len(SAVED) :]
        if name not in settings.filters:
            what = _('no saved filter "{name}"').format(name=name)
            remedy = nearest(name, settings.filters)
            if not remedy:
                remedy = _('None is saved. Under [filters] in a settings file: {name} = "loss | acc".').format(
                    name=name
                )
            raise ConfigError(what, "[filters]", remedy)
        said["filter"] = settings.filters[name]
    return replace(settings, **said, given=tuple(sorted({*settings.given, *said})))


def user_config_dir() -> str:
    """Directory of config.toml and of the user's own themes."""
    import platformdirs  # not needed when --config and --state-dir say it all

    return str(platformdirs.user_config_dir(APP, appauthor=False))


def default_state_dir() -> str:
    """Directory for views, exports and replays when nothing else is asked for."""
    import platformdirs

    return str(platformdirs.user_state_dir(APP, appauthor=False))


Watched = Union[str, Sequence[str], None]
"""one path or several"""


def config_files(watched: Watched, cwd: str, config_dir: str, explicit: Optional[str]) -> Tuple[str, ...]:
    """Files to read, the nearest last.

    The working directory's file is passed over when it lies inside what is watched, or when another user owns it.
    """
    found = [os.path.join(config_dir, CONFIG_NAME)]
    paths = (watched,) if isinstance(watched, str) else watched or ()
    if not any(_inside(cwd, path) for path in paths):
        found.append(os.path.join(cwd, LOCAL_NAME))
    mine = [path for path in found if _is_mine(path)]
    return (*mine, explicit) if explicit else tuple(mine)


def load_settings(watched: Watched, *, cwd: str, config_dir: str, explicit: Optional[str] = None) -> Settings:
    """Settings from every file that counts. Raises ConfigError for the first thing that is wrong."""
    settings = Settings()
    for path in config_files(watched, cwd, config_dir, explicit):
        settings = apply(settings, read_toml(path), path)
    return settings


def _inside(path: str, root: str) -> bool:
    path, root = os.path.realpath(path), os.path.realpath(root)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _is_mine(path: str) -> bool:
    try:
        return os.stat(path).st_uid in (os.geteuid(), 0)
    except OSError:
        return False


# --- the view that comes back next time


def view_path(state_dir: str, root: str) -> str:
    """File that holds the view of one watched path."""
    import hashlib  # with OpenSSL behind it; help and errors need none

    name = hashlib.sha256(os.path.realpath(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(state_dir, "views", name + ".json")


def load_view(state_dir: str, root: str) -> Dict[str, Any]:
    """The view stored for this path; empty when there is none or it cannot be used: a view is a convenience."""
    try:
        with open(view_path(state_dir, root), encoding="utf-8") as stream:
            import json  # at the first start there is nothing to read

            view = json.loads(stream.read(VIEW_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    return view if isinstance(view, dict) else {}


def save_view(state_dir: str, root: str, view: Mapping[str, Any]) -> Optional[str]:
    """Store the view in one step, so that a second mstui never reads half of it. Returns what went wrong, else None."""
    import json

    path = view_path(state_dir, root)
    partial = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(partial, "w", encoding="utf-8") as stream:
            json.dump(view, stream)
        os.replace(partial, path)
    except (OSError, ValueError, TypeError) as error:
        return f"{path}: {error}"
    return None
