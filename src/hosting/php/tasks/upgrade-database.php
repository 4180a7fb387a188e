<?php
// {} → {upgraded}. wp_upgrade, as the dashboard's page "Database Update Required" calls it: the tables of an older release become those
// that this one expects. Plugins are not loaded, as on that page. The other way there is none.
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
