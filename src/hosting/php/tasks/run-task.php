<?php
// Runs one of Stead's tasks. Reads {task, input, marker, isSafe} from the body, and answers with JSON between two
// markers. Discards whatever the site's plugins print. Only Stead's own requests get here: /stead is outside the web
// root.
$stead = json_decode(file_get_contents('php://input'), true, 64, JSON_THROW_ON_ERROR);
// Without these headers, wp_die and plugins do not answer in JSON.
unset($_SERVER['CONTENT_TYPE'], $_SERVER['HTTP_CONTENT_TYPE'], $_SERVER['CONTENT_LENGTH'], $_SERVER['HTTP_CONTENT_LENGTH']);

// No page cache and no maintenance page may answer a task: not those of drop-ins, and not a `.maintenance` file that an
// update left behind.
foreach (['enable_loading_advanced_cache_dropin', 'enable_maintenance_mode'] as $hook) {
    $GLOBALS['wp_filter'][$hook][PHP_INT_MAX]['stead'] = ['function' => static fn () => false, 'accepted_args' => 0];
}
unset($hook);

if (in_array($stead['task'], ['check-site', 'front-page', 'inner-page'], true)) {
    // These tasks check a page as a visitor would.
    $_SERVER['REQUEST_METHOD'] = 'GET';
} else {
    // Other tasks look like the request with which WordPress runs its scheduled events. A plugin that caches,
    // redirects, closes the site, or demands a login must let that pass. wp_die then says why the site ended the task.
    define('DOING_CRON', true);
    $_SERVER['REQUEST_METHOD'] = 'POST';
    $_SERVER['QUERY_STRING'] = 'doing_wp_cron=stead';
    $_SERVER['REQUEST_URI'] = "/wp-cron.php?{$_SERVER['QUERY_STRING']}";
    $_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = '/wp-cron.php';
    $_SERVER['SCRIPT_FILENAME'] = '/wordpress/wp-cron.php';
    $_GET['doing_wp_cron'] = $_REQUEST['doing_wp_cron'] = 'stead';
    $GLOBALS['wp_filter']['wp_die_handler'][PHP_INT_MAX]['stead'] = [
        'function' => static fn () => 'stead_end_with',
        'accepted_args' => 0,
    ];
}
if (!empty($stead['isSafe'])) {
    require_once __DIR__ . '/safe-mode.php';
}

/** Thrown when a site ends the task, with the reason. */
final class Stead_Ended extends RuntimeException
{
}

function stead_end_with($message): never
{
    $words = is_wp_error($message) ? implode(' ', $message->get_error_messages()) : (is_scalar($message) ? (string) $message : '');
    throw new Stead_Ended(trim(preg_replace('/\s+/', ' ', wp_strip_all_tags($words))) ?: 'the site ended the task (wp_die)');
}

// A task uses the scheme of the site's address. Plugins of an https site redirect other requests to https, which would
// end the task.
$GLOBALS['wp_filter']['muplugins_loaded'][PHP_INT_MIN]['stead'] = [
    'function' => static function (): void {
        if (parse_url((string) get_option('home'), PHP_URL_SCHEME) === 'https') {
            $_SERVER['HTTPS'] = 'on';
            $_SERVER['REQUEST_SCHEME'] = 'https';
        }
    },
    'accepted_args' => 0,
];

/**
 * Returns the statements that the database refused in this request, each kind once. WordPress has logged the first of
 * each. Omits checks whether a table exists: dbDelta() runs them before it creates a table, and an error is the
 * expected answer.
 */
function stead_database_errors(): array
{
    $errors = [];
    foreach ($GLOBALS['EZSQL_ERROR'] ?? [] as $each) {
        if (preg_match('/^\s*(?:DESCRIBE|DESC|SHOW)\b/i', (string) ($each['query'] ?? ''))) {
            continue;
        }
        $text = trim(preg_replace('/\s+/', ' ', (string) ($each['error_str'] ?? '')));
        if ($text !== '') {
            $errors[mb_strcut($text, 0, 300)] = true;
        }
    }
    return array_slice(array_map('strval', array_keys($errors)), 0, 20);
}

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
    // A notice from earlier is not a reason.
    $isFatal = $error && ($error['type'] & (E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR));
    if (isset($GLOBALS['stead']['marker'], $GLOBALS['stead_ended']) && (!$isFatal || isset($GLOBALS['stead_ends_by_errors']))) {
        // A task that may end the request itself.
        stead_answer(['result' => $GLOBALS['stead_ended']($isFatal ? $error['message'] : null)]);
        return;
    }
    // The request ended before the task started, so another attempt may succeed without the site's plugins.
    $place = isset($GLOBALS['stead_run']) ? [] : ['isEarly' => true];
    stead_answer($place + ['error' => $isFatal ? $error['message'] : 'the site ended the task (exit)']);
});
try {
    $stead_name = basename((string) $stead['task']);
    $stead_run = require __DIR__ . "/$stead_name.php";
    stead_answer(['result' => $stead_run($stead['input'] ?? [])]);
} catch (Throwable $error) {
    // If a task refuses something with its own message, the file and line do not help the readers.
    $isOwn = $error instanceof RuntimeException && dirname($error->getFile()) === __DIR__;
    $place = $isOwn ? '' : ' (' . basename($error->getFile()) . ':' . $error->getLine() . ')';
    $isEarly = isset($stead_run) ? [] : ['isEarly' => true];
    stead_answer($isEarly + ['error' => $error->getMessage() . $place]);
}
