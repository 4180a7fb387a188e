<?php
// {} → {plugins, themes}. Returns WordPress' own lists of plugins, must-use plugins, drop-ins, and themes, with the
// updates that it knows of. Runs without plugins and theme, so that a plugin that breaks the site is listed too.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

return static function (): array {
    $updates = get_site_transient('update_plugins');
    $automatic = (array) get_site_option('auto_update_plugins', []);
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
        $plugins[] = ['isAutomatic' => in_array($file, $automatic, true)] + $plugin;
    }
    foreach (glob(WP_CONTENT_DIR . '/mu-plugins/*.php') ?: [] as $path) {
        $plugins[] = $describe(basename($path), basename($path, '.php'), get_plugin_data($path, false, false), 'must-use');
    }
    foreach (get_dropins() as $file => $data) {
        $plugins[] = $describe((string) $file, (string) $file, $data, 'dropin');
    }
    return ['plugins' => array_slice($plugins, 0, 2000), 'themes' => stead_themes($text)];
};

/** Returns the themes. The active one is read from its option, because this request runs without it. */
function stead_themes(callable $text): array
{
    $updates = get_site_transient('update_themes');
    $automatic = (array) get_site_option('auto_update_themes', []);
    $active = [get_option('stylesheet'), get_option('template')];
    $themes = [];
    foreach (array_slice(wp_get_themes(), 0, 500, true) as $name => $theme) {
        $version = $text($theme->get('Version'), 100);
        $known = ((array) ($updates->response[$name] ?? []))['new_version'] ?? '';
        $isDue = is_string($known) && $known !== '' && version_compare($known, $version, '>');
        $themes[] = [
            'name' => $text($name, 200),
            'title' => $text($theme->get('Name'), 200),
            'version' => $version,
            'isActive' => in_array((string) $name, $active, true),
            'updateVersion' => $isDue ? $text($known, 100) : null,
            'isAutomatic' => in_array((string) $name, $automatic, true),
        ];
    }
    return $themes;
}

function stead_utf8(string $text): string
{
    return mb_check_encoding($text, 'UTF-8') ? $text : mb_convert_encoding($text, 'UTF-8', 'UTF-8');
}
