<?php
// Runs before every script of a site whose PHP is native: what php-wasm has built in, then what all have in common.

/**
 * Says something to the host, and returns what it answers. The host has it before anything that is printed afterwards: it says so.
 * Four bytes of length, big endian, and the text; the same back.
 */
function post_message_to_js(string $text): string
{
    if (strlen($text) > 1 << 18) {
        return '';
    }
    $host = @stream_socket_client('unix:///run/stead/host', $code, $message, 5);
    if (!$host) {
        return '';
    }
    stream_set_timeout($host, 86400);
    fwrite($host, pack('N', strlen($text)) . $text);
    $answer = stream_get_contents($host);
    fclose($host);
    return is_string($answer) && strlen($answer) >= 4 ? substr($answer, 4) : '';
}

if (PHP_SAPI === 'cli') {
    // a command begins when its network is there
    post_message_to_js('');
}

// php-fpm leaves out what stands behind the script's name, since it is not to look for it (cgi.fix_pathinfo)
if (isset($_SERVER['PATH_INFO'], $_SERVER['SCRIPT_NAME'])) {
    $_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] . $_SERVER['PATH_INFO'];
}

require __DIR__ . '/prepend.php';
