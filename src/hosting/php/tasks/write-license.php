<?php
// {key: string | null} → {dropIn}. Writes the option `stead_ext_license` of the (main) site; null removes it. Runs
// without plugins and theme: one of them could prevent the license from being written.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';

return static function (array $input): array {
    $name = 'stead_ext_license';
    $key = $input['key'];
    if ($key === null) {
        delete_option($name);
    } else {
        update_option($name, $key);
    }
    if (get_option($name, null) !== $key) {
        throw new RuntimeException('the options table did not take the license');
    }
    return [
        // The drop-in may still know the old value.
        'dropIn' => file_exists(WP_CONTENT_DIR . '/object-cache.php'),
    ];
};
