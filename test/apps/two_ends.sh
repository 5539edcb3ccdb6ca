#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# two_ends.sh PORT SERVER CLIENT: run a server, wait until it listens on the TCP
# port, run the client, wait for both. SERVER and CLIENT are shell commands.
# Ends with 0 if both did; says how each ended on the last line of its output:
#
#     ends server 0 client 0
port=$1

# A socket in state LISTEN (0A), IPv4 or IPv6.
listens() {
    grep -Eqs ":$(printf '%04X' "$port") 0+:0000 0A" /proc/net/tcp \
        /proc/net/tcp6
}

sh -c "exec $2" &
server=$!
tries=1000 # of 10 ms; the caller has a limit of its own
until listens || [ $tries -eq 0 ] || ! kill -0 $server 2>/dev/null; do
    sleep 0.01
    tries=$((tries - 1))
done
sh -c "exec $3"
client_code=$?
wait $server
server_code=$?
echo "ends server $server_code client $client_code"
[ $server_code -eq 0 ] && [ $client_code -eq 0 ]
