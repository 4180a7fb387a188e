<?php
// Not a task. Tasks that change plugins load it before WordPress. Stead reports what went wrong and undoes it.
// WordPress' own mail about a fatal error, with a link into its recovery mode, would arrive after the error was undone.
// Runs in safe mode if other plugins break the site.
if ($GLOBALS['stead']['input']['isSafe']) {
    require_once __DIR__ . '/safe-mode.php';
}
// The site's files belong to the user that PHP runs as. A constant would be defined twice if wp-config.php also defines
// it.
$GLOBALS['wp_filter']['filesystem_method'][PHP_INT_MAX]['stead'] = [
    'function' => static fn () => 'direct',
    'accepted_args' => 0,
];
$GLOBALS['wp_filter']['wp_fatal_error_handler_enabled'][PHP_INT_MAX]['stead'] = [
    'function' => static fn () => false,
    'accepted_args' => 0,
];

/** Returns all messages of WordPress, including the reason, which it keeps as the data of an error. */
function stead_words(WP_Error $fault): string
{
    $words = [];
    foreach ($fault->get_error_codes() as $code) {
        $reason = $fault->get_error_data($code);
        $words = [...$words, ...$fault->get_error_messages($code), ...(is_string($reason) ? [$reason] : [])];
    }
    return trim(wp_strip_all_tags(implode(' ', array_unique($words))));
}

/** @throws RuntimeException with WordPress' own message */
function stead_demand($result, string $otherwise): void
{
    if (is_wp_error($result)) {
        throw new RuntimeException(stead_words($result) ?: $otherwise);
    }
    if (!$result) {
        throw new RuntimeException($otherwise);
    }
}

/** Deactivates a plugin, without its own hooks if they fail. Otherwise, nobody could get rid of a broken plugin. */
function stead_deactivate(string $file): void
{
    try {
        deactivate_plugins([$file]);
    } catch (Throwable $error) {
        error_log("Stead: the deactivation hook of $file failed: " . $error->getMessage());
        deactivate_plugins([$file], true);
    }
}
