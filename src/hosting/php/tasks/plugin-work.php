<?php
// No task: loaded before WordPress by those that change plugins. Stead says what has gone wrong, and takes it back: WordPress' own mail about a
// fatal error, with a link into its recovery mode, would be of something that is over. In safe mode where other plugins break the site.
if ($GLOBALS['stead']['input']['isSafe']) {
    require_once __DIR__ . '/safe-mode.php';
}
// the site's files belong to the user that PHP runs as
define('FS_METHOD', 'direct');
$GLOBALS['wp_filter']['wp_fatal_error_handler_enabled'][PHP_INT_MAX]['stead'] = [
    'function' => static fn () => false,
    'accepted_args' => 0,
];

/** @throws RuntimeException with WordPress' own words */
function stead_demand($result, string $otherwise): void
{
    if (is_wp_error($result)) {
        throw new RuntimeException(trim(wp_strip_all_tags(implode(' ', $result->get_error_messages()))) ?: $otherwise);
    }
    if (!$result) {
        throw new RuntimeException($otherwise);
    }
}
