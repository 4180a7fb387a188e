<?php
// Runs before every script of a site with native PHP. Adds what php-wasm has built in, then loads what all runtimes
// share.

/**
 * Sends a message to the host, and returns the answer. The answer shows that the host has the message before anything
 * that is printed afterwards. Format: four bytes of length, big endian, and the text, in both directions.
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
    // A command starts when its network is ready.
    post_message_to_js('');
}

// php-fpm omits what follows the script's name, because it must not search for the script (cgi.fix_pathinfo).
if (isset($_SERVER['PATH_INFO'], $_SERVER['SCRIPT_NAME'])) {
    $_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] . $_SERVER['PATH_INFO'];
}

require __DIR__ . '/prepend.php';
