<?php
// {after, most} → {last, upgraded, left}. Runs wp_upgrade in the next blogs of a network, those with an ID higher than
// `after`, as the dashboard page "Upgrade Network" does. Like that page, it skips blogs that are archived, deleted, or
// marked as spam. `last` is the highest ID that was checked, and `left` the number of blogs after it.
// `upgrade-database` upgrades the main blog.
define('WP_INSTALLING', true);
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

return static function (array $input): array {
    global $wpdb, $wp_db_version;
    if (!is_multisite()) {
        return ['last' => $input['after'], 'upgraded' => 0, 'left' => 0];
    }
    $of = "FROM $wpdb->blogs WHERE blog_id > %d AND archived = '0' AND deleted = 0 AND spam = 0";
    $ids = $wpdb->get_col($wpdb->prepare("SELECT blog_id $of ORDER BY blog_id LIMIT %d", $input['after'], $input['most']));
    $last = $input['after'];
    $upgraded = 0;
    foreach (array_map('intval', $ids) as $id) {
        switch_to_blog($id);
        try {
            // Bypasses every cache.
            $has = $wpdb->get_var("SELECT option_value FROM $wpdb->options WHERE option_name = 'db_version'");
            if ($has !== null && (int) $has < (int) $wp_db_version) {
                wp_cache_flush();
                wp_upgrade();
                $upgraded++;
            }
        } catch (Throwable $error) {
            throw new RuntimeException("blog $id of the network: " . $error->getMessage(), 0, $error);
        } finally {
            restore_current_blog();
        }
        $last = $id;
    }
    wp_cache_flush();
    $left = (int) $wpdb->get_var($wpdb->prepare("SELECT COUNT(*) $of", $last));
    if ($left === 0) {
        // So that the network's dashboard does not ask for it again.
        update_site_option('wpmu_upgrade_site', $wp_db_version);
    }
    return ['last' => $last, 'upgraded' => $upgraded, 'left' => $left];
};
