<?php
// {file, isSafe} → {deleted}. Calls stead_deactivate, and delete_plugins, which runs the plugin's own uninstallation.
require_once __DIR__ . '/plugin-work.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';

return static function (array $input): array {
    if (is_plugin_active($input['file'])) {
        stead_deactivate($input['file']);
    }
    stead_demand(delete_plugins([$input['file']]), 'WordPress did not delete it');
    return ['deleted' => true];
};
