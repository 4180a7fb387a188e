<?php
// Runs one of Stead's tasks: reads {task, input, marker} from the body, answers with JSON between two markers. Whatever the
// site's plugins print is thrown away. Only Stead's own requests get here: /stead is no part of the web root.
$stead = json_decode(file_get_contents('php://input'), true, 64, JSON_THROW_ON_ERROR);
$_SERVER['REQUEST_METHOD'] = 'GET';

// A task comes by the scheme that the site says it has: plugins of a site at https send everybody else there, which would end the task.
$GLOBALS['wp_filter']['muplugins_loaded'][PHP_INT_MIN]['stead'] = [
    'function' => static function (): void {
        if (parse_url((string) get_option('home'), PHP_URL_SCHEME) === 'https') {
            $_SERVER['HTTPS'] = 'on';
            $_SERVER['REQUEST_SCHEME'] = 'https';
        }
    },
    'accepted_args' => 0,
];

function stead_answer(array $answer): void
{
    global $stead;
    if (!isset($stead['marker'])) {
        return;
    }
    $marker = $stead['marker'];
    unset($stead['marker']);
    $json = json_encode($answer, JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR);
    while (ob_get_level() > 0 && @ob_end_clean()) {
    }
    echo $marker, $json, $marker;
}

ob_start();
register_shutdown_function(static function (): void {
    $error = error_get_last();
    // a notice of long ago is no reason
    $isFatal = $error && ($error['type'] & (E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR));
    if (!$isFatal && isset($GLOBALS['stead']['marker'], $GLOBALS['stead_ended'])) {
        // a page that may end the request itself
        stead_answer(['result' => $GLOBALS['stead_ended']()]);
        return;
    }
    stead_answer(['error' => $isFatal ? $error['message'] : 'the site ended the task (exit)']);
});
try {
    $name = basename((string) $stead['task']);
    $run = require __DIR__ . "/$name.php";
    stead_answer(['result' => $run($stead['input'] ?? [])]);
} catch (Throwable $error) {
    // where a task refuses something in words of its own is nothing for those who read them
    $isOwn = $error instanceof RuntimeException && dirname($error->getFile()) === __DIR__;
    $place = $isOwn ? '' : ' (' . basename($error->getFile()) . ':' . $error->getLine() . ')';
    stead_answer(['error' => $error->getMessage() . $place]);
}
