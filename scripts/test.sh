#!/bin/sh
# Sets up a virtual environment and passes the checks and tests. Arguments go to pytest.
#
#   PYTHON      interpreter to use (default: the first of python3, python3.12 ... that is 3.9 or newer)
#   MSTUI_VENV  directory of the environment (default: .venv-test); used again when it is there
set -eu
cd "$(dirname "$0")/.."
exec </dev/null
. scripts/python.sh

venv=${MSTUI_VENV:-.venv-test}
make_venv "$venv"
bin=$venv/bin

groups="--group test"
if "$bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    groups="$groups --group static"
fi
if "$bin/pip" install -q --dry-run --only-binary mindspore '.[mindspore]' >/dev/null 2>&1; then
    extras=mindspore,png
    mindspore="with MindSpore: the tests that train for real are run"
else
    extras=png
    mindspore="WITHOUT MindSpore: there is none for this Python and machine, tests marked mindspore are skipped"
fi
# shellcheck disable=SC2086  # the groups are several words
"$bin/pip" install -q -e ".[$extras]" $groups

failed=
check() {
    echo "== $*"
    "$bin/$@" || failed="$failed $1"
}
if [ -x "$bin/mypy" ]; then
    check ruff format --check
    check ruff check
    check mypy --strict mstui tests
    check lint-imports --no-cache
else
    echo "mstui: static checks need Python 3.10, they are not run"
fi
echo "mstui: $mindspore"
check python -m pytest -n 2 "$@"
if [ -n "$failed" ]; then
    echo "mstui: failed:$failed" >&2
    exit 1
fi
