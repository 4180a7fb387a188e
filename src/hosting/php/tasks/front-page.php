<?php
// {} → {status, bytes, databaseErrors}. Renders the front page as a visitor gets it. If it ends in a fatal error,
// returns PHP's own message, and WordPress sends no mail about it.
$GLOBALS['wp_filter']['wp_fatal_error_handler_enabled'][PHP_INT_MAX]['stead'] = [
    'function' => static fn () => false,
    'accepted_args' => 0,
];

/** Also called if the page ended the request itself. */
$GLOBALS['stead_ended'] = static function (): array {
    $bytes = 0;
    while (ob_get_level() > 0) {
        $bytes += strlen((string) ob_get_clean());
    }
    return ['status' => (int) (http_response_code() ?: 200), 'bytes' => $bytes, 'databaseErrors' => stead_database_errors()];
};
define('WP_USE_THEMES', true);
require '/wordpress/wp-blog-header.php';

return $GLOBALS['stead_ended'];
