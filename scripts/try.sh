#!/bin/sh
# Sets up a virtual environment and opens mstui on a bundled sample run, replayed as if it were being trained now.
#
#   sh scripts/try.sh                       the healthy run, from step 150 on
#   sh scripts/try.sh loss_nan --speed 3    the one that ends in NaN; any option of `mstui replay`
set -eu
cd "$(dirname "$0")/.."
. scripts/python.sh

venv=${MSTUI_VENV:-.venv-try}
make_venv "$venv"
"$venv/bin/pip" install -q '.[png]'
[ $# -gt 0 ] || set -- healthy --at "step 150"
exec "$venv/bin/mstui" replay "$@"
