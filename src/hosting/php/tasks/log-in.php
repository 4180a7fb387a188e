<?php
// {login, userAgent, remoteAddress, https} → {cookies, dropIn}. Creates a new session of a user as wp_set_auth_cookie
// does, and returns the cookies for the browser. Runs without plugins and theme: the host has already decided who is
// logged in.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';

return static function (array $input): array {
    $user = get_user_by('login', $input['login']);
    if (!$user) {
        throw new RuntimeException('no such user; an administrator of WordPress can make it again');
    }
    // A session records where it started.
    $_SERVER['HTTP_USER_AGENT'] = $input['userAgent'];
    $_SERVER['REMOTE_ADDR'] = $input['remoteAddress'];
    // The cookies are for the browser's scheme, whatever scheme the task uses.
    if ($input['https']) {
        $_SERVER['HTTPS'] = 'on';
    } else {
        unset($_SERVER['HTTPS']);
    }
    $cookies = [];
    $note = static function (string $name, string $value, string $path, bool $secure) use (&$cookies): void {
        $cookies[] = [
            'name' => $name,
            'value' => $value,
            'path' => $path,
            'domain' => (string) COOKIE_DOMAIN,
            'isSecure' => $secure,
        ];
    };
    add_filter('send_auth_cookies', '__return_false', PHP_INT_MAX);
    add_action('set_auth_cookie', static function ($value, $expire, $expiration, $id, $scheme) use ($note): void {
        $isSecure = $scheme === 'secure_auth';
        foreach ([PLUGINS_COOKIE_PATH, ADMIN_COOKIE_PATH] as $path) {
            $note($isSecure ? SECURE_AUTH_COOKIE : AUTH_COOKIE, $value, $path, $isSecure);
        }
    }, 10, 5);
    add_action('set_logged_in_cookie', static function ($value) use ($note): void {
        $isSecure = is_ssl() && parse_url(get_option('home'), PHP_URL_SCHEME) === 'https';
        foreach (array_unique([COOKIEPATH, SITECOOKIEPATH]) as $path) {
            $note(LOGGED_IN_COOKIE, $value, $path, $isSecure);
        }
    });
    wp_set_auth_cookie($user->ID);
    if (!$cookies) {
        throw new RuntimeException('WordPress made no session');
    }
    return [
        'cookies' => $cookies,
        // The drop-in may not know the session.
        'dropIn' => file_exists(WP_CONTENT_DIR . '/object-cache.php'),
    ];
};
