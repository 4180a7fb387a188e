<?php
// Runs before every script of a site (auto_prepend_file), so it defines little and does nothing.

// mail() is disabled: there is no sendmail in the sandbox. A disabled function is gone in PHP 8, and calling it is a fatal
// error: a visitor's comment would end in a 500 when WordPress tells the author. This one says no instead.
if (!function_exists('mail')) {
    function mail($to, $subject, $message, $additional_headers = [], $additional_params = ''): bool
    {
        error_log('mail(): this site has no mail transport');
        return false;
    }
}

// Names resolve to made-up addresses (172.29.x.y) inside, which WordPress takes for private ones and refuses
// (wp_http_validate_url). The real address is found and checked outside, at the connection. Addresses written as such
// stay WordPress' to judge. Entries made before wp-includes/plugin.php is loaded become hooks there.
$GLOBALS['wp_filter']['http_request_host_is_external'][10]['stead'] = [
    'function' => static fn ($external, $host = '') =>
        $external || !filter_var(trim((string) $host, '[]'), FILTER_VALIDATE_IP) && $host !== 'localhost',
    'accepted_args' => 2,
];
