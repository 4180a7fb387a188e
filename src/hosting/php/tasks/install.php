<?php
// {title, user, password, email, url} → {user: id}. Installs WordPress into an empty database: wp_install, then
// update_option and WP_Rewrite. Creates the golden template, so it runs once for each core version.
define('WP_INSTALLING', true);
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

return static function (array $input): array {
    global $wpdb, $wp_rewrite;
    // No mail about a site that no user has ordered yet.
    add_filter('pre_wp_mail', '__return_false');
    // Slashed like a password from a form. See reset-password.php.
    $installed = wp_install($input['title'], $input['user'], $input['email'], true, '', wp_slash($input['password']));
    if (is_wp_error($installed)) {
        throw new RuntimeException($installed->get_error_message());
    }
    // wp_install guesses the address from the script's path, and guesses wrong here.
    update_option('siteurl', $input['url']);
    update_option('home', $input['url']);
    // The first post and comment have the guessed address.
    $wpdb->query($wpdb->prepare("UPDATE $wpdb->posts SET guid = CONCAT(%s, ID)", $input['url'] . '/?p='));
    $wp_rewrite->init();
    $wp_rewrite->set_permalink_structure('/%postname%/');
    update_option('rewrite_rules', '');
    delete_option('rewrite_rules');
    update_option('users_can_register', 0);
    wp_cache_flush();
    if ($wpdb->last_error) {
        throw new RuntimeException($wpdb->last_error);
    }
    return ['user' => (int) $installed['user_id']];
};
