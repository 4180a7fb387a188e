<?php
// {active, network} → {}. Restores which plugins are active, without calling any plugin, because the activation of a
// plugin may have broken the site.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

return static function (array $input): array {
    $before = (array) get_option('active_plugins', []);
    if ($before !== $input['active']) {
        update_option('active_plugins', $input['active']);
    }
    if (is_multisite()) {
        $now = (array) get_site_option('active_sitewide_plugins', []);
        $wanted = array_fill_keys($input['network'], time());
        update_site_option('active_sitewide_plugins', array_intersect_key($now, $wanted) + $wanted);
    }
    wp_clean_plugins_cache(false);
    // The drop-in may not know the new state.
    return ['dropIn' => file_exists(WP_CONTENT_DIR . '/object-cache.php')];
};
