<?php
// {login | email, password} → {id, login, email, dropIn}. Calls wp_set_password and ends the user's sessions. Runs
// without plugins and theme, because users whom one of these locks out need it most.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';

return static function (array $input): array {
    $user = isset($input['login'])
        ? get_user_by('login', $input['login'])
        : get_user_by('email', $input['email'] ?? '');
    if (!$user) {
        throw new RuntimeException('no such user; an administrator of WordPress can make it again, such as a collaborator with the role wp_access');
    }
    // The login form checks the password as PHP's old magic quotes would have escaped it, so it must be stored that
    // way.
    wp_set_password(wp_slash($input['password']), $user->ID);
    // Session cookies hold only four characters of the password's hash, and the session's record would remain.
    WP_Session_Tokens::get_instance($user->ID)->destroy_all();
    return [
        'id' => $user->ID,
        'login' => $user->user_login,
        'email' => $user->user_email,
        // The drop-in may still know the old password.
        'dropIn' => file_exists(WP_CONTENT_DIR . '/object-cache.php'),
    ];
};
