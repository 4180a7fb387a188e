<?php
// {email, name, login} → {login, created}. Ensures an administrator with this address. Calls wp_insert_user, or
// WP_User::set_role for the user that has the address, so that no user exists twice. With a password
// (reset-administrator sets one), calls wp_set_password and ends the user's sessions.
require '/wordpress/wp-load.php';
require_once __DIR__ . '/user-by-email.php';

return static function (array $input): array {
    // Stead informs people itself. The site's own mails would be duplicates.
    add_filter('pre_wp_mail', '__return_false');
    $user = stead_user_by_email($input['email']);
    $created = $user === null;
    if ($created) {
        $login = $input['login'];
        for ($number = 2; username_exists($login); $number++) {
            $login = substr($input['login'], 0, 60 - strlen("-$number")) . "-$number";
        }
        $id = wp_insert_user([
            'user_login' => $login,
            'user_email' => $input['email'],
            'user_pass' => wp_generate_password(40, true, true),
            'display_name' => wp_slash($input['name']),
            'role' => 'administrator',
        ]);
        if (is_wp_error($id)) {
            throw new RuntimeException($id->get_error_message());
        }
        $user = new WP_User($id);
    } elseif (!in_array('administrator', $user->roles, true)) {
        // On a network: a role on its main site, of which the user becomes a member this way.
        $user->set_role('administrator');
    }
    if (isset($input['password'])) {
        // The login form checks the password as PHP's old magic quotes would have escaped it, so it must be stored that
        // way.
        wp_set_password(wp_slash($input['password']), $user->ID);
        WP_Session_Tokens::get_instance($user->ID)->destroy_all();
    }
    return ['login' => $user->user_login, 'created' => $created];
};
