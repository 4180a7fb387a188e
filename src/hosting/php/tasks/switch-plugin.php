<?php
// {file, isActive, isSafe} → {isActive}. activate_plugin or deactivate_plugins, with what the plugin does then.
require_once __DIR__ . '/plugin-work.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';

return static function (array $input): array {
    $file = $input['file'];
    if (!$input['isActive']) {
        deactivate_plugins([$file]);
    } else {
        $result = activate_plugin($file);
        // what it has printed is no reason not to have it
        if (is_wp_error($result) && !is_plugin_active($file)) {
            stead_demand($result, 'WordPress did not activate it');
        }
    }
    return ['isActive' => is_plugin_active($file)];
};
