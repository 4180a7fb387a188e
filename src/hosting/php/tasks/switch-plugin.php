<?php
// {file, isActive, isSafe} → {isActive}. Calls activate_plugin or stead_deactivate, including the plugin's own hooks.
require_once __DIR__ . '/plugin-work.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';

return static function (array $input): array {
    $file = $input['file'];
    if (!$input['isActive']) {
        stead_deactivate($file);
    } else {
        $result = activate_plugin($file);
        // A plugin that prints something during activation can still be active.
        if (is_wp_error($result) && !is_plugin_active($file)) {
            stead_demand($result, 'WordPress did not activate it');
        }
    }
    return ['isActive' => is_plugin_active($file)];
};
