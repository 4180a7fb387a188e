<?php
// {} → {plugins}. Returns WordPress' own list of plugins, must-use plugins, and drop-ins, with the updates that it
// knows of. Runs without plugins and theme, so that a plugin that breaks the site is listed too.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

return static function (): array {
    $updates = get_site_transient('update_plugins');
    $text = static fn ($value, int $most): string => mb_substr(stead_utf8((string) $value), 0, $most);
    $describe = static fn (string $file, string $name, array $data, string $status) => [
        'file' => $file,
        'name' => $text($name, 200),
        'title' => $text($data['Name'] ?? '', 200),
        'description' => $text($data['Description'] ?? '', 2000),
        'version' => $text($data['Version'] ?? '', 100),
        'status' => $status,
        'update' => 'none',
        'updateVersion' => null,
    ];
    $plugins = [];
    foreach (get_plugins() as $file => $data) {
        $file = (string) $file;
        $status = is_plugin_active_for_network($file) ? 'active-network' : (is_plugin_active($file) ? 'active' : 'inactive');
        $plugin = $describe($file, str_contains($file, '/') ? dirname($file) : basename($file, '.php'), $data, $status);
        $offer = $updates->response[$file] ?? null;
        $known = ((array) ($offer ?? $updates->no_update[$file] ?? []))['new_version'] ?? '';
        if ($offer && is_string($known) && version_compare($known, $plugin['version'], '>')) {
            $plugin['update'] = 'available';
            $plugin['updateVersion'] = $text($known, 100);
        } elseif (is_string($known) && $known !== '' && version_compare($plugin['version'], $known, '>')) {
            $plugin['update'] = 'version higher than expected';
        }
        $plugins[] = $plugin;
    }
    foreach (glob(WP_CONTENT_DIR . '/mu-plugins/*.php') ?: [] as $path) {
        $plugins[] = $describe(basename($path), basename($path, '.php'), get_plugin_data($path, false, false), 'must-use');
    }
    foreach (get_dropins() as $file => $data) {
        $plugins[] = $describe((string) $file, (string) $file, $data, 'dropin');
    }
    return ['plugins' => array_slice($plugins, 0, 2000)];
};

function stead_utf8(string $text): string
{
    return mb_check_encoding($text, 'UTF-8') ? $text : mb_convert_encoding($text, 'UTF-8', 'UTF-8');
}
