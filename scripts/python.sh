# Shared by try.sh and test.sh: finds a Python that is new enough and makes a virtual environment with it.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1

find_python() {
    for candidate in ${PYTHON:-python3 python3.12 python3.11 python3.13 python3.10 python3.9}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "mstui: needs Python 3.9 or newer; name one with PYTHON=/path/to/python3" >&2
    exit 2
}

make_venv() {
    if [ ! -x "$1/bin/pip" ]; then
        python=$(find_python)
        if ! "$python" -m venv "$1"; then
            echo "mstui: cannot make $1; on Debian and Ubuntu: apt-get install python3-venv" >&2
            exit 2
        fi
    fi
    # dependency groups need pip 25.1
    "$1/bin/python" -m pip install -q --upgrade 'pip>=25.1'
}
