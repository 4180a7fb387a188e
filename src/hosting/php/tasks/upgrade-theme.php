<?php
// {source, name, version, isSafe} → {version}. Updates a theme from an unpacked package with WordPress' own
// Theme_Upgrader, including the hooks of plugins.
require_once __DIR__ . '/plugin-work.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';
require_once ABSPATH . 'wp-admin/includes/class-wp-upgrader.php';
require_once __DIR__ . '/theme-upgrader.php';

return static function (array $input): array {
    $skin = new WP_Ajax_Upgrader_Skin();
    $upgrader = new Stead_Theme_Upgrader($skin);
    $source = WP_CONTENT_DIR . '/' . $input['source'];
    $result = ($upgrader->update($input['name'], $source, $input['version'])[$input['name']] ?? null) ?: false;
    foreach ([$result, $skin->result] as $each) {
        if (is_wp_error($each)) {
            stead_demand($each, 'WordPress did not take it');
        }
    }
    if ($skin->get_errors()->has_errors()) {
        throw new RuntimeException(trim(wp_strip_all_tags($skin->get_error_messages())));
    }
    stead_demand($result, 'WordPress did not take it');
    wp_clean_themes_cache(false);
    clearstatcache();
    $theme = wp_get_theme($input['name']);
    stead_demand($theme->exists(), 'WordPress does not find it after its update');
    return ['version' => mb_substr((string) $theme->get('Version'), 0, 100)];
};
