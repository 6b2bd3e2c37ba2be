<?php
/** Prints a port of 127.0.0.1 that is free: the one of the address given, so that a site keeps it, or else any. */

$wanted = (int) parse_url($argv[1] ?? '', PHP_URL_PORT);
$listener = @stream_socket_server("tcp://127.0.0.1:$wanted") ?: stream_socket_server('tcp://127.0.0.1:0');
echo parse_url('tcp://' . stream_socket_get_name($listener, false), PHP_URL_PORT);
