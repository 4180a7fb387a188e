<?php
// Not a task. Loaded before WordPress, it makes WordPress start without the site's own code that could end every
// request: plugins, must-use plugins, drop-ins, and the theme. It writes nothing, so the site is unchanged when it
// starts without it. `db.php` is loaded if the site reaches its SQLite database through it.

const STEAD_SAFE_MODE = true;
// The first definition wins.
define('WPMU_PLUGIN_DIR', '/stead/no-plugins');

// After a fatal error, PHP-FPM sends the headers without calling the header callback.
register_shutdown_function(static function (): void {
    if (stead_lacks_config()) {
        stead_ask_for_repair('config');
    }
});

/** An empty file. */
final class Stead_Left_Out
{
    public $context;

    public function stream_open(): bool
    {
        return true;
    }

    public function stream_read(): string
    {
        return '';
    }

    public function stream_eof(): bool
    {
        return true;
    }

    public function stream_stat(): array
    {
        return [];
    }

    public function stream_set_option(): bool
    {
        return false;
    }
}

// Drop-ins that no filter excludes. WordPress includes each once, so one that was read as an empty file is not included
// again.
(static function (): void {
    $content = '/wordpress/wp-content';
    $isOnSqlite = is_dir("$content/mu-plugins/sqlite-database-integration");
    $names = array_filter($isOnSqlite ? ['sunrise.php'] : ['sunrise.php', 'db.php'], static fn ($name) => is_file("$content/$name"));
    if (!$names) {
        return;
    }
    // Otherwise opcache would run its compiled copies, without the stream wrapper. This lasts until the end of the
    // request.
    ini_set('opcache.enable', '0');
    stream_wrapper_unregister('file');
    stream_wrapper_register('file', Stead_Left_Out::class);
    foreach ($names as $name) {
        include_once "$content/$name";
    }
    stream_wrapper_restore('file');
})();

function stead_theme_in_safe_mode($given)
{
    // The dashboard and the login page work without any theme while WordPress starts. After that, the dashboard must
    // show the real setting.
    if (is_admin() || ($GLOBALS['pagenow'] ?? '') === 'wp-login.php') {
        return did_action('wp_loaded') ? $given : 'stead-no-theme';
    }
    static $default;
    $default ??= WP_Theme::get_core_default_theme();
    return $default ? $default->get_stylesheet() : 'stead-no-theme';
}

foreach ([
    'enable_loading_advanced_cache_dropin' => static fn () => false,
    'wp_fatal_error_handler_enabled' => static fn () => false,
    // Lists of plugins are empty while WordPress loads plugins, and real afterwards, so that the dashboard can
    // deactivate them.
    'pre_option_active_plugins' => static fn ($given) => did_action('plugins_loaded') ? $given : [],
    'pre_site_option_active_sitewide_plugins' => static fn ($given) => did_action('plugins_loaded') ? $given : [],
    'stylesheet' => 'stead_theme_in_safe_mode',
    'template' => 'stead_theme_in_safe_mode',
    // An event of a plugin that is not loaded would count as done.
    'pre_get_ready_cron_jobs' => static fn () => [],
    // Rewrite rules generated now lack those of plugins. None are stored, so that WordPress generates them again
    // afterwards.
    'pre_update_option_rewrite_rules' => static fn () => '',
] as $hook => $function) {
    $GLOBALS['wp_filter'][$hook][PHP_INT_MAX]['stead'] = ['function' => $function, 'accepted_args' => 1];
}
foreach (['admin_notices', 'network_admin_notices'] as $hook) {
    $GLOBALS['wp_filter'][$hook][10]['stead'] = [
        'function' => static function (): void {
            echo '<div class="notice notice-warning"><p><strong>Safe mode is on.</strong> No plugin and none of your themes is loaded, ',
                'for visitors neither, and no scheduled event runs. Deactivate what is broken, then switch safe mode off.</p></div>';
        },
        'accepted_args' => 0,
    ];
}
unset($hook, $function);
