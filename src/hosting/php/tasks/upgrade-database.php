<?php
// {} → {upgraded}. Calls wp_upgrade, as the dashboard page "Database Update Required" does. It converts the tables of
// an older release to those that this one expects. As on that page, plugins are not loaded. WordPress cannot reverse
// this.
define('WP_INSTALLING', true);
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

return static function (): array {
    global $wp_db_version, $wp_version;
    wp_cache_flush();
    $has = (int) get_option('db_version');
    if ($has > $wp_db_version) {
        throw new RuntimeException("its tables are those of a newer WordPress ($has) than the site runs ($wp_version, $wp_db_version)");
    }
    if ($has === (int) $wp_db_version) {
        return ['upgraded' => false];
    }
    wp_upgrade();
    wp_cache_flush();
    return ['upgraded' => true];
};
