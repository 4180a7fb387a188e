<?php
// {source, file, version, isSafe} → {file, version, isActive}. Installs an unpacked plugin with WordPress' own
// Plugin_Upgrader, including the hooks of other plugins. With `file`, it updates that plugin. Without, it adds a new
// one.
require_once __DIR__ . '/plugin-work.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';
require_once ABSPATH . 'wp-admin/includes/class-wp-upgrader.php';
require_once __DIR__ . '/plugin-upgrader.php';

return static function (array $input): array {
    $skin = new WP_Ajax_Upgrader_Skin();
    $upgrader = new Stead_Plugin_Upgrader($skin);
    $source = WP_CONTENT_DIR . '/' . $input['source'];
    $file = $input['file'];
    if ($file === null) {
        $result = $upgrader->install($source, ['overwrite_package' => true]);
        $file = $upgrader->plugin_info();
    } else {
        $result = ($upgrader->update($file, $source, $input['version'])[$file] ?? null) ?: false;
    }
    foreach ([$result, $skin->result] as $each) {
        if (is_wp_error($each)) {
            stead_demand($each, 'WordPress did not take it');
        }
    }
    if ($skin->get_errors()->has_errors()) {
        throw new RuntimeException(trim(wp_strip_all_tags($skin->get_error_messages())));
    }
    stead_demand($result && $file, 'WordPress did not take it');
    wp_clean_plugins_cache(false);
    clearstatcache();
    $data = get_plugins()[$file] ?? null;
    stead_demand($data, 'WordPress does not find it after its installation');
    return [
        'file' => (string) $file,
        'version' => mb_substr((string) $data['Version'], 0, 100),
        'isActive' => is_plugin_active($file),
    ];
};
