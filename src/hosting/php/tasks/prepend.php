<?php
// Runs before every script of a site (auto_prepend_file), so it defines little and does nothing else.
// php-wasm puts the query into argv. Elsewhere argv is empty without register_argc_argv.
if (PHP_SAPI === 'cli-server') {
    unset($_SERVER['argv']);
}

// mail() is disabled, because the sandbox has no sendmail. PHP 8 removes a disabled function, and calling it is a fatal
// error: a visitor's comment would end in a 500 when WordPress notifies the author. This function hands the mail to the
// host.
if (!function_exists('mail')) {
    function mail($to, $subject, $message, $additional_headers = [], $additional_params = ''): bool
    {
        if (!empty($GLOBALS['stead_sends_recovery_mail'])) {
            unset($GLOBALS['stead_sends_recovery_mail']);
            return true;
        }
        require_once __DIR__ . '/mail.php';
        $envelope = ['to' => (string) $to, 'subject' => (string) $subject, 'headers' => stead_mail_headers($additional_headers)];
        return stead_hand_over_mail($envelope + stead_mail_sender((string) $additional_params), (string) $message);
    }
}
// Opens a pipe to sendmail, and to no other program.
if (!function_exists('popen') && !function_exists('pclose')) {
    function popen($command, $mode)
    {
        require_once __DIR__ . '/mail.php';
        return Stead_Sendmail::open((string) $command, (string) $mode);
    }
    function pclose($handle): int
    {
        require_once __DIR__ . '/mail.php';
        return Stead_Sendmail::close($handle);
    }
}

// php-wasm cannot write larger pictures as AVIF (`ini.ts`), so this function does not report that type.
if (!function_exists('imagetypes') && function_exists('imagegif')) {
    function imagetypes(): int
    {
        return IMG_GIF | IMG_JPG | IMG_PNG | IMG_WBMP | (function_exists('imagewebp') ? IMG_WEBP : 0);
    }
    function gd_info(): array
    {
        return [
            'GD Version' => GD_VERSION,
            'FreeType Support' => function_exists('imagettftext'),
            'FreeType Linkage' => 'with freetype',
            'GIF Read Support' => true,
            'GIF Create Support' => true,
            'JPEG Support' => true,
            'PNG Support' => true,
            'WBMP Support' => true,
            'XPM Support' => false,
            'XBM Support' => true,
            'WebP Support' => function_exists('imagewebp'),
            'BMP Support' => false,
            'AVIF Support' => false,
            'TGA Read Support' => false,
            'JIS-mapped Japanese Font Support' => false,
        ];
    }
}

// PHP's realpath remembers for minutes where paths lead. It keeps returning paths that a restore or SFTP has removed.
// This one checks whether the path exists, and clears PHP's cache if not.
if (!function_exists('realpath')) {
    function realpath($path): string|false
    {
        $path = (string) $path;
        $info = new SplFileInfo($path === '' ? '.' : $path);
        $real = $info->getRealPath();
        if ($real !== false && !file_exists($real)) {
            clearstatcache(true);
            $real = $info->getRealPath();
        }
        // A file is not a folder.
        return $real !== false && str_ends_with($path, '/') && !is_dir($real) ? false : $real;
    }
}

// WordPress mails a link into recovery mode when a plugin or the theme breaks pages of the dashboard. The host sends it
// to the owner. WordPress then considers its own mail sent, and says where to look for it.
if (function_exists('post_message_to_js')) {
    $GLOBALS['wp_filter']['recovery_mode_email'][PHP_INT_MAX]['stead'] = [
        'function' => static function ($email, $url = '') {
            $file = (string) (error_get_last()['file'] ?? '');
            $cause = preg_match('~/wp-content/((?:plugins|themes)/[^/]+)~', $file, $match) ? $match[1] : null;
            post_message_to_js((string) json_encode(['recovery' => ['url' => (string) $url, 'cause' => $cause]]));
            $GLOBALS['stead_sends_recovery_mail'] = true;
            return $email;
        },
        'accepted_args' => 2,
    ];
}

// For a login link that failed (the host's `login-links.ts`), the login page says why.
if (isset($_GET['stead_login_refused'])) {
    $GLOBALS['wp_filter']['login_message'][10]['stead'] = [
        'function' => static function ($message) {
            $reasons = [
                'unknown' => 'This login link is unknown.',
                'used' => 'This login link was already used. It works only once.',
                'late' => 'This login link has expired. It works for 30 seconds.',
                'browser' => 'This login link was created for another browser. It no longer works.',
                'failed' => 'This login link did not work: WordPress refused the user.',
            ];
            $reason = is_string($_GET['stead_login_refused']) ? $reasons[$_GET['stead_login_refused']] ?? '' : '';
            return $reason === '' ? $message : $message . '<div class="notice notice-error message"><p>' . $reason . '</p></div>';
        },
        'accepted_args' => 1,
    ];
}

// A visitor over https sees the site's own address with https and its port, whatever address the site is configured
// with. At a name that is not the site's own, WordPress redirects the visitor to that address.
if (($_SERVER['HTTPS'] ?? '') === 'on') {
    $GLOBALS['wp_filter']['option_home'][PHP_INT_MAX]['stead'] = $GLOBALS['wp_filter']['option_siteurl'][PHP_INT_MAX]['stead'] = [
        'function' => static function ($url) {
            $own = is_string($url) ? parse_url($url) : false;
            if (!isset($own['host']) || strcasecmp($own['host'], (string) $_SERVER['SERVER_NAME']) !== 0) {
                return $url;
            }
            $port = (int) $_SERVER['SERVER_PORT'];
            return "https://{$own['host']}" . ($port === 443 ? '' : ":$port") . ($own['path'] ?? '');
        },
        'accepted_args' => 1,
    ];
    // Addresses in older posts.
    $GLOBALS['wp_filter']['wp_should_replace_insecure_home_url'][10]['stead'] = [
        'function' => static fn () => true,
        'accepted_args' => 0,
    ];
}

// Inside, names resolve to made-up addresses (172.29.x.y), which WordPress takes for private ones and refuses
// (wp_http_validate_url). The real address is resolved and checked outside, at the connection. WordPress still judges
// literal addresses. Entries created before wp-includes/plugin.php is loaded become hooks there.
$GLOBALS['wp_filter']['http_request_host_is_external'][10]['stead'] = [
    'function' => static fn ($external, $host = '') =>
        $external || !filter_var(trim((string) $host, '[]'), FILTER_VALIDATE_IP) && $host !== 'localhost',
    'accepted_args' => 2,
];

// Sites reach each other, and themselves, at the port in their addresses.
$GLOBALS['wp_filter']['http_allowed_safe_ports'][10]['stead'] = [
    'function' => static fn ($ports) => [...(array) $ports, (int) (parse_url(home_url(), PHP_URL_PORT) ?: 80)],
    'accepted_args' => 1,
];

// A request to this same site. All its PHP processes may be busy waiting for such requests. The host accepts it at once
// if the sender does not wait for the answer, and runs it after this one.
$GLOBALS['wp_filter']['http_request_args'][PHP_INT_MAX]['stead'] = [
    'function' => static function ($request, $url = '') {
        if (!empty($request['blocking']) || parse_url($url, PHP_URL_HOST) !== parse_url(home_url(), PHP_URL_HOST)) {
            return $request;
        }
        $headers = $request['headers'] ?? [];
        $request['headers'] = is_array($headers) ? $headers + ['Stead-No-Wait' => '1'] : trim($headers) . "\r\nStead-No-Wait: 1";
        return $request;
    },
    'accepted_args' => 2,
];

// A request to this same site over https, where TLS ends before the edge, at a proxy that is often unreachable from
// here. The host passes it to the edge in plain text. Both know from the connection that it comes from the site and
// stands for https.
$GLOBALS['wp_filter']['requests-requests.before_request'][PHP_INT_MAX]['stead'] = [
    'function' => static function (&$url, &$headers) {
        $own = @include __DIR__ . '/own-https.php';
        $asked = is_array($own) && is_string($url) && is_array($headers) ? parse_url($url) : false;
        if (!isset($asked['host']) || strtolower($asked['scheme'] ?? '') !== 'https' || ($asked['port'] ?? 443) !== $own['port']) {
            return;
        }
        $hosts = [parse_url(home_url(), PHP_URL_HOST), parse_url(site_url(), PHP_URL_HOST), $_SERVER['SERVER_NAME'] ?? ''];
        $isOwn = in_array(strtolower($asked['host']), array_map('strtolower', array_map('strval', $hosts)), true);
        if ($isOwn || is_multisite() && domain_exists($asked['host'], '/')) {
            $names = array_change_key_case($headers);
            $headers += isset($names['host']) ? [] : ['Host' => $asked['host'] . (isset($asked['port']) ? ":{$asked['port']}" : '')];
            $rest = preg_replace('~^https://[^/?#]*~i', '', $url);
            $url = "http://{$asked['host']}:{$own['edge']}$rest";
        }
    },
    'accepted_args' => 2,
];

// Plugins that would set a cookie with each page, such as the language of the page or a mark for counting visits, keep
// all pages out of the edge cache. They ask whether a page cache is in front of them, and then do without the cookie.
foreach (['pll_is_cache_active' => true, 'pmpro_set_visit_cookie' => false] as $hook => $answer) {
    $GLOBALS['wp_filter'][$hook][10]['stead'] = ['function' => static fn () => $answer, 'accepted_args' => 0];
}
unset($hook, $answer);

// Reports changes of pages to the host, which has edges purge them. The code is loaded only when something changes.
function stead_changes(): Stead_Changes
{
    global $stead_changes;
    if (!$stead_changes) {
        require_once __DIR__ . '/changes.php';
        $stead_changes = new Stead_Changes();
        // Covers changes while the page is being printed, and after.
        register_shutdown_function([$stead_changes, 'tell']);
    }
    return $stead_changes;
}

function stead_changed(...$args)
{
    try {
        stead_changes()->note(current_filter(), $args);
    } catch (Throwable $error) {
        error_log('Stead: ' . $error->getMessage());
    }
    // Some of these hooks are filters.
    return $args[0] ?? null;
}
if (function_exists('post_message_to_js')) {
    foreach ([
        'post_updated', 'transition_post_status', 'before_delete_post', 'delete_attachment', 'attachment_updated',
        'set_object_terms', 'added_post_meta', 'updated_post_meta', 'deleted_post_meta', 'wp_insert_comment',
        'delete_comment', 'edit_comment', 'transition_comment_status', 'edited_term', 'delete_term', 'wp_update_nav_menu',
        'switch_theme', 'customize_save_after', 'activated_plugin', 'deactivated_plugin', 'deleted_plugin',
        'deleted_theme', 'upgrader_process_complete', '_core_updated_successfully', 'added_option', 'updated_option', 'deleted_option',
        'profile_update', 'delete_user', 'wp_ajax_edit-theme-plugin-file', 'woocommerce_updated_product_stock',
        'woocommerce_product_set_stock_status', 'stead_purge', 'litespeed_purge_all', 'litespeed_purge_post',
        'cache_enabler_clear_complete_cache', 'cache_enabler_clear_site_cache', 'cache_enabler_clear_page_cache_by_post',
        'cachify_flush_cache', 'breeze_clear_all_cache', 'wphb_clear_page_cache', 'rt_nginx_helper_purge_all',
        'autoptimize_action_cachepurged',
    ] as $hook) {
        $GLOBALS['wp_filter'][$hook][0]['stead'] = ['function' => 'stead_changed', 'accepted_args' => 6];
    }
    unset($hook);
    // Covers writes by editors of the site that no hook reports: tables of plugins. Whether the user is an editor is
    // known later.
    if (stead_may_be_editor()) {
        $GLOBALS['wp_filter']['query'][PHP_INT_MAX]['stead'] = ['function' => 'stead_see_query', 'accepted_args' => 1];
    }
    // An administrator's page may take longer: an import, a backup.
    $GLOBALS['wp_filter']['admin_init'][-1]['stead'] = [
        'function' => static function (): void {
            if (current_user_can('manage_options')) {
                post_message_to_js('{"administers":true}');
            }
        },
        'accepted_args' => 0,
    ];
    // Plugins that support cache plugins call one of their functions.
    $GLOBALS['wp_filter']['wp_loaded'][PHP_INT_MAX]['stead'] = ['function' => 'stead_offer_cache_functions', 'accepted_args' => 0];
    // Objects are kept from one request to the next if the site has no drop-in for that. A site with several processes
    // is excluded, because each process would have a different state.
    $GLOBALS['wp_filter']['enable_loading_object_cache_dropin'][10]['stead'] = [
        'function' => 'stead_load_object_cache',
        'accepted_args' => 1,
    ];
}

/** Returns whether the request changes something, and comes from a user who is logged in or sends credentials. */
function stead_may_be_editor(): bool
{
    $is_action = !in_array($_SERVER['REQUEST_METHOD'] ?? 'GET', ['GET', 'HEAD'], true) || isset($_GET['_wpnonce']);
    if (!$is_action || ($_POST['action'] ?? '') === 'heartbeat') {
        return false;
    }
    return isset($_SERVER['PHP_AUTH_USER']) || str_contains(implode(' ', array_keys($_COOKIE)), 'wordpress_logged_in_');
}

function stead_see_query($query)
{
    if (is_string($query) && preg_match('/^\s*(?:INSERT|UPDATE|DELETE|REPLACE|TRUNCATE)\b/i', $query)) {
        try {
            stead_changes()->wrote($query);
        } catch (Throwable $error) {
            error_log('Stead: ' . $error->getMessage());
        }
    }
    return $query;
}

/**
 * Offers the documented functions of cache plugins if none of those is installed. Code that calls them has changed
 * something.
 */
function stead_offer_cache_functions(): void
{
    global $pagenow;
    // Excluded: requests that may activate a plugin, because a plugin that defines the same function would clash with
    // it.
    $may_activate = in_array($pagenow ?? '', ['plugins.php', 'plugin-install.php', 'update.php', 'update-core.php', 'themes.php'], true)
        || isset($GLOBALS['stead']) || PHP_SAPI === 'cli' || preg_match('/plugin/', (string) ($_REQUEST['action'] ?? ''))
        || str_contains((string) ($_SERVER['REQUEST_URI'] ?? '') . ($_GET['rest_route'] ?? ''), 'wp/v2/plugins');
    if (!$may_activate) {
        require_once __DIR__ . '/cache-functions.php';
    }
}

function stead_load_object_cache($load_drop_in)
{
    if (defined('STEAD_SAFE_MODE')) {
        // Not the site's own drop-in, which may be broken, and not this cache, which has missed what the drop-in saw.
        stead_drop_object_cache();
        return false;
    }
    $is_wanted = $load_drop_in && !get_cfg_var('stead.has_several') && (!defined('STEAD_OBJECT_CACHE') || STEAD_OBJECT_CACHE);
    if (!$is_wanted || function_exists('wp_cache_init') || file_exists(WP_CONTENT_DIR . '/object-cache.php')) {
        // The stored objects would be outdated when this cache is used again.
        stead_drop_object_cache();
        return $load_drop_in;
    }
    require __DIR__ . '/object-cache.php';
    wp_using_ext_object_cache(true);
    return false;
}

function stead_drop_object_cache(): void
{
    foreach (glob('/stead-cache/*') ?: [] as $file) {
        unlink($file);
    }
}

// The edge purges a page when the content that it shows changes.
function stead_say_what_is_shown(): void
{
    global $stead_shows;
    try {
        if ($stead_shows === null && function_exists('home_url') && (!function_exists('is_admin') || !is_admin())) {
            stead_look_what_is_shown();
        }
        header('X-Stead-Shows: ' . implode(' ', $stead_shows ?? ['/']));
    } catch (Throwable $error) {
        header('X-Stead-Cache: private');
        error_log('Stead: ' . $error->getMessage());
    }
}

function stead_look_what_is_shown(): void
{
    require_once __DIR__ . '/shown.php';
    $GLOBALS['stead_shows'] = stead_shown();
    // Pages that a shop shows to each customer separately, whatever their headers say.
    foreach (['is_cart', 'is_checkout', 'is_account_page'] as $is) {
        $GLOBALS['stead_is_personal'] = ($GLOBALS['stead_is_personal'] ?? false) || (function_exists($is) && $is());
    }
}
// Runs as soon as the query is known: filters of plugins take part in links, and may not expect to run while the
// headers are being sent.
$GLOBALS['wp_filter']['wp'][PHP_INT_MAX]['stead'] = ['function' => 'stead_look_what_is_shown', 'accepted_args' => 0];

// A command has no headers, and its callback would run after PHP has shut down its extensions.
if (PHP_SAPI === 'cli') {
    require_once __DIR__ . '/command.php';
} else {
    // Runs just before the headers of a response leave. A client that made a change must get its response only after
    // the change applies. Pages that plugins exclude from caches (DONOTCACHEPAGE, which all WordPress page caches
    // honour) say so.
    header_register_callback(static function (): void {
        global $stead_changes;
        if (stead_lacks_config()) {
            stead_ask_for_repair('config');
            return;
        }
        if ($stead_changes) {
            $stead_changes->tell();
        }
        if ((defined('DONOTCACHEPAGE') && DONOTCACHEPAGE) || ($GLOBALS['stead_is_personal'] ?? false)) {
            header('X-Stead-Cache: private');
        } elseif (in_array($_SERVER['REQUEST_METHOD'] ?? '', ['GET', 'HEAD'], true) && defined('WP_CACHE') && WP_CACHE && empty($GLOBALS['wp_actions']['muplugins_loaded'])) {
            // A page cache of the site, which runs before WordPress. Its pages were current when they were created.
            header('X-Stead-Cache: brief');
        } elseif (in_array($_SERVER['REQUEST_METHOD'] ?? '', ['GET', 'HEAD'], true) && !isset($GLOBALS['stead'])) {
            stead_say_what_is_shown();
        }
    });
}

// For a network whose address has a port. wpmu_create_blog passes the domain of a new site through sanitize_user, which
// would remove the colon and make that site unreachable.
$GLOBALS['wp_filter']['sanitize_user'][10]['stead'] = [
    'function' => static fn ($name, $given = '') =>
        defined('DOMAIN_CURRENT_SITE') && $given === DOMAIN_CURRENT_SITE ? $given : $name,
    'accepted_args' => 2,
];

/** Asks the host to restore files that PHP cannot write, before the next page. */
function stead_ask_for_repair($what = true): void
{
    static $has_asked = false;
    if (!$has_asked && function_exists('post_message_to_js')) {
        post_message_to_js((string) json_encode(['mend' => $what]));
    }
    $has_asked = true;
    http_response_code(503);
    header_remove('Location');
    header('Retry-After: 2');
    header('Refresh: 2');
    header('Cache-Control: no-store');
}

/**
 * Returns whether WordPress was requested and did not start. Either wp-config.php is missing, so that WordPress would
 * offer its installer to the first visitor. Or, in safe mode, the site's own wp-config.php ends with an error.
 */
function stead_lacks_config(): bool
{
    if (!defined('ABSPATH') || defined('WP_START_TIMESTAMP')) {
        return false;
    }
    $file = ABSPATH . 'wp-config.php';
    // Scripts that print styles work without it.
    return !@filesize($file) || defined('STEAD_SAFE_MODE') && in_array($file, get_included_files(), true);
}

// The site, or a plugin, must not remove the files that connect it to its database. Without them every page would fail,
// including the dashboard's. PHP restores the drop-in, and asks the host for a restart. The host restores the rest
// before PHP starts.
function stead_keep_database_drop_in(): void
{
    $layer = WP_CONTENT_DIR . '/mu-plugins/sqlite-database-integration';
    $file = WP_CONTENT_DIR . '/db.php';
    if (str_contains((string) @file_get_contents($file), '/sqlite-database-integration') && is_file("$layer/wp-includes/sqlite/db.php")) {
        return;
    }
    $template = (string) @file_get_contents("$layer/db.copy");
    $drop_in = str_replace(
        ["'{SQLITE_IMPLEMENTATION_FOLDER_PATH}'", '{SQLITE_PLUGIN}'],
        ["__DIR__ . '/mu-plugins/sqlite-database-integration'", 'sqlite-database-integration/load.php'],
        $template
    );
    $new = WP_CONTENT_DIR . '/.stead-db.php';
    if ($template !== '' && is_file("$layer/wp-includes/sqlite/db.php") && @file_put_contents($new, $drop_in) && @rename($new, $file)) {
        error_log('Stead: wp-content/db.php was removed or replaced, by which the site reaches its database. It was put back.');
        return;
    }
    stead_ask_for_repair();
    echo 'This site is being repaired. Try again in a moment.';
    exit;
}

// A missing or empty database of a site is not created again. WordPress would show the installer to visitors, and give
// the site to the first one who completes it. This filter is the first that WordPress applies after it has read
// wp-config.php.
$GLOBALS['wp_filter']['enable_wp_debug_mode_checks'][-1]['stead'] = [
    'function' => static function ($enabled = true) {
        // A task installs the golden template, into an empty database.
        $is_installed = ($GLOBALS['stead']['task'] ?? '') !== 'install';
        if ($is_installed && defined('DB_DIR') && defined('DB_FILE') && (int) @filesize(DB_DIR . DB_FILE) < 512) {
            error_log("Stead: the site's database is lost; it is not made anew");
            http_response_code(503);
            header('Retry-After: 300');
            header('Cache-Control: no-store');
            echo "This site is not available.";
            exit;
        }
        if (defined('DB_DIR') && defined('DB_FILE')) {
            stead_keep_database_drop_in();
        }
        // The form that writes a wp-config.php would give the site to the first visitor who completes it.
        if (defined('WP_SETUP_CONFIG') && $is_installed) {
            stead_ask_for_repair('config');
            echo 'This site is being repaired. Try again in a moment.';
            exit;
        }
        return $enabled;
    },
    'accepted_args' => 1,
];

// Without WP_DEBUG, WordPress keeps deprecations out of the log. A plugin that raises E_USER_DEPRECATED addresses the
// site's owner, so those are logged. PHP's own stay out: a plugin written before PHP 8.2 would fill the log with them.
$GLOBALS['wp_filter']['enable_wp_debug_mode_checks'][PHP_INT_MAX]['stead'] = [
    'function' => static function ($enabled = true) {
        if (!$enabled || WP_DEBUG) {
            return $enabled;
        }
        // Does what wp_debug_mode() does, with one more level.
        error_reporting(E_CORE_ERROR | E_CORE_WARNING | E_COMPILE_ERROR | E_ERROR | E_WARNING | E_PARSE | E_USER_ERROR | E_USER_WARNING | E_RECOVERABLE_ERROR | E_USER_DEPRECATED);
        $isForPrograms = defined('XMLRPC_REQUEST') || defined('REST_REQUEST') || defined('MS_FILES_REQUEST') || wp_installing();
        if ($isForPrograms || wp_doing_ajax() || wp_is_json_request()) {
            ini_set('display_errors', '0');
        }
        return false;
    },
    'accepted_args' => 1,
];

// Last, because safe mode must come before the entries above. php.ini sets it, which nothing in the site can change.
if (get_cfg_var('stead.safe_mode')) {
    require_once __DIR__ . '/safe-mode.php';
}
