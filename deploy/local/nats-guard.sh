#!/bin/sh
# Runs a NATS server that cannot outlive the process holding the other end of our standard input: however that one
# dies, its end of the pipe closes, the watcher below reads the end of file and stops the server.
#
# A shell, because a second Node process only to wait would cost forty megabytes.
#
# Usage: nats-guard.sh <nats-server> [argument…]

# Kept as descriptor 3: a shell gives its background commands /dev/null for standard input.
exec 3<&0 </dev/null

"$@" 3<&- &
server=$!

stop_server() {
	kill -TERM "$server" 2>/dev/null
	# A server that hangs (on a dead disk, say) must not stay behind either.
	tries=0
	while kill -0 "$server" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -gt 25 ] && kill -KILL "$server" 2>/dev/null
		# Fractions are no standard, though every system at hand takes them.
		sleep 0.2 2>/dev/null || sleep 1
	done
}

# Signals are for the server to act on; this shell only waits for its end. The output is let go, so that nobody who
# reads it to its end has to wait for the watcher.
trap 'kill -TERM "$server" 2>/dev/null' TERM INT HUP
(
	trap '' TERM INT HUP
	while read -r _ <&3; do :; done
	stop_server
) >/dev/null 2>&1 &
watcher=$!
exec 3<&-

# `wait` returns early when a trapped signal arrives.
while :; do
	wait "$server"
	status=$?
	kill -0 "$server" 2>/dev/null || break
done
kill -KILL "$watcher" 2>/dev/null
exit "$status"
