# shellcheck shell=bash
# What deploy/rehearse does its checks with.

work=$(mktemp -d)
chmod 755 "$work"
failures=0

check() {  # NAME FUNCTION…: the last line that the function prints is its result
    local name=$1 status=0
    shift
    set +e
    (set -e; "$@") >"$work/out" 2>"$work/err"
    status=$?
    set -e
    if [ $status = 0 ]; then
        echo "ok    $name: $(tail -n 1 "$work/out")"
    else
        echo "FAIL  $name"
        tail -n 12 "$work/out" "$work/err" | sed 's/^/      /'
        failures=$((failures + 1))
    fi
}

fails() { ! "$@"; }

wait_for() { for _ in $(seq 120); do "$@" >/dev/null 2>&1 && return; sleep 0.5; done; "$@"; }

renders() { podman logs "$1" 2>&1 | grep 'worker started'; }  # CONTAINER

call() {  # PORT TOOL ARGUMENTS: prints the answer to a plain POST
    local params="{\"name\":\"$2\",\"arguments\":$3}"
    curl --silent --show-error --max-time 40 "http://127.0.0.1:$1/mcp" \
        -H 'Authorization: Bearer rehearsal' -H 'Content-Type: application/json' \
        -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":$params}"
}

search() { call "$1" search '{"query":"radio range"}' | tee "$work/found" | grep '"isError":false'; }

clients() {  # PODMAN-OPTIONS -- CLIENT-ARGUMENTS
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    podman run --rm "${options[@]}" -v "$PWD/deploy/rehearsal:/rehearsal:ro" -v "$work:/work:ro" \
        --entrypoint python citewell /rehearsal/clients.py "$@" | tee /dev/stderr | tr -s '\n ' ' '
}
