<?php
// Runs before every script of a site (auto_prepend_file), so it defines little and does nothing.

// php-wasm puts the query here; elsewhere there is nothing without register_argc_argv
if (PHP_SAPI === 'cli-server') {
    unset($_SERVER['argv']);
}

// mail() is disabled: there is no sendmail in the sandbox. A disabled function is gone in PHP 8, and calling it is a fatal
// error: a visitor's comment would end in a 500 when WordPress tells the author. This one hands the mail over to the host.
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
// A pipe to sendmail, and to nothing else.
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

// php-wasm cannot write larger pictures as AVIF (`ini.ts`): what asks which kinds there are is told so.
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

// PHP's own remembers for minutes where paths lead, and goes on to tell it of what is gone from there: restored, or changed over SFTP. This
// one looks whether it is there, and makes PHP forget all of it when not.
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
        // a file is no folder
        return $real !== false && str_ends_with($path, '/') && !is_dir($real) ? false : $real;
    }
}

// The way into recovery mode, which WordPress mails when a plugin or the theme ends pages of the dashboard: the host sends it to the
// owner. WordPress then takes its own mail for sent, and says where to look for it.
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

// A link that was to log in and did not (the host's `login-links.ts`): the log-in page says why.
if (isset($_GET['stead_login_refused'])) {
    $GLOBALS['wp_filter']['login_message'][10]['stead'] = [
        'function' => static function ($message) {
            $reasons = [
                'unknown' => 'The link to log in is not known here.',
                'used' => 'The link to log in was used already. It works once.',
                'late' => 'The link to log in is too old. It works for 30 seconds.',
                'browser' => 'The link to log in was made for another browser. It does not work any more.',
                'failed' => 'The link to log in did not work: WordPress did not let the user in.',
            ];
            $reason = is_string($_GET['stead_login_refused']) ? $reasons[$_GET['stead_login_refused']] ?? '' : '';
            return $reason === '' ? $message : $message . '<div class="notice notice-error message"><p>' . $reason . '</p></div>';
        },
        'accepted_args' => 1,
    ];
}

// A visitor over https is shown the site's own address with https and the port of it, whatever the site itself was told; at a name that is
// not the site's own WordPress sends him there.
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
    // addresses in posts that were written before
    $GLOBALS['wp_filter']['wp_should_replace_insecure_home_url'][10]['stead'] = [
        'function' => static fn () => true,
        'accepted_args' => 0,
    ];
}

// Names resolve to made-up addresses (172.29.x.y) inside, which WordPress takes for private ones and refuses
// (wp_http_validate_url). The real address is found and checked outside, at the connection. Addresses written as such
// stay WordPress' to judge. Entries made before wp-includes/plugin.php is loaded become hooks there.
$GLOBALS['wp_filter']['http_request_host_is_external'][10]['stead'] = [
    'function' => static fn ($external, $host = '') =>
        $external || !filter_var(trim((string) $host, '[]'), FILTER_VALIDATE_IP) && $host !== 'localhost',
    'accepted_args' => 2,
];

// Sites reach each other, and themselves, by the port in their addresses.
$GLOBALS['wp_filter']['http_allowed_safe_ports'][10]['stead'] = [
    'function' => static fn ($ports) => [...(array) $ports, (int) (parse_url(home_url(), PHP_URL_PORT) ?: 80)],
    'accepted_args' => 1,
];

// A request to this very site, whose PHP may all be at work, waiting for such a request: the host accepts it at once when nobody waits
// for its answer, and runs it after this one.
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

// A request to this very site by https where TLS ends before the edge, at a proxy that is often out of reach from here: the host takes it to
// the edge in plain text, and both know by the connection that it is the site's and stands for https.
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

// What changes a page is told to the host, which has edges let go of it. The code comes only when something changes.
function stead_changes(): Stead_Changes
{
    global $stead_changes;
    if (!$stead_changes) {
        require_once __DIR__ . '/changes.php';
        $stead_changes = new Stead_Changes();
        // What changes while the page is being printed, or after.
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
        'post_updated', 'transition_post_status', 'before_delete_post', 'delete_attachment', 'set_object_terms',
        'added_post_meta', 'updated_post_meta', 'deleted_post_meta', 'wp_insert_comment', 'delete_comment', 'edit_comment',
        'transition_comment_status', 'edited_term', 'delete_term', 'wp_update_nav_menu', 'wp_delete_nav_menu',
        'switch_theme', 'customize_save_after', 'activated_plugin', 'deactivated_plugin', 'deleted_plugin',
        'upgrader_process_complete', '_core_updated_successfully', 'added_option', 'updated_option', 'deleted_option',
        'profile_update', 'delete_user', 'wp_ajax_edit-theme-plugin-file', 'woocommerce_updated_product_stock',
        'woocommerce_product_set_stock_status', 'stead_purge', 'litespeed_purge_all', 'litespeed_purge_post',
        'cache_enabler_clear_complete_cache', 'cache_enabler_clear_site_cache', 'cache_enabler_clear_page_cache_by_post',
        'cachify_flush_cache', 'breeze_clear_all_cache', 'wphb_clear_page_cache', 'rt_nginx_helper_purge_all',
        'autoptimize_action_cachepurged',
    ] as $hook) {
        $GLOBALS['wp_filter'][$hook][0]['stead'] = ['function' => 'stead_changed', 'accepted_args' => 6];
    }
    unset($hook);
    // What people who edit the site write into its database, and no hook speaks of: tables of plugins. Who that is is known later.
    if (stead_may_be_editor()) {
        $GLOBALS['wp_filter']['query'][PHP_INT_MAX]['stead'] = ['function' => 'stead_see_query', 'accepted_args' => 1];
    }
    // A page of an administrator may take longer: an import, a backup.
    $GLOBALS['wp_filter']['admin_init'][-1]['stead'] = [
        'function' => static function (): void {
            if (current_user_can('manage_options')) {
                post_message_to_js('{"administers":true}');
            }
        },
        'accepted_args' => 0,
    ];
    // Plugins that know caches call one.
    $GLOBALS['wp_filter']['wp_loaded'][PHP_INT_MAX]['stead'] = ['function' => 'stead_offer_cache_functions', 'accepted_args' => 0];
    // Objects are kept from one request to the next where the site has no drop-in of its own for that. Not with several
    // processes a site: each would have its own truth.
    $GLOBALS['wp_filter']['enable_loading_object_cache_dropin'][10]['stead'] = [
        'function' => 'stead_load_object_cache',
        'accepted_args' => 1,
    ];
}

/** A request that does something, of somebody who is logged in or says who he is. */
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

/** The documented functions of cache plugins, where none of those is there: what calls them has changed something. */
function stead_offer_cache_functions(): void
{
    global $pagenow;
    // where a plugin may be activated, whose own function of that name would be a second one
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
        // neither the site's own, which may be what is broken, nor what that one has not seen
        stead_drop_object_cache();
        return false;
    }
    $is_wanted = $load_drop_in && !get_cfg_var('stead.has_several') && (!defined('STEAD_OBJECT_CACHE') || STEAD_OBJECT_CACHE);
    if (!$is_wanted || function_exists('wp_cache_init') || file_exists(WP_CONTENT_DIR . '/object-cache.php')) {
        // what is kept would not be right any more when its turn comes again
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

// The edge lets go of a page when what it shows changes.
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
    // what a shop shows to each customer alone, whatever its headers say
    foreach (['is_cart', 'is_checkout', 'is_account_page'] as $is) {
        $GLOBALS['stead_is_personal'] = ($GLOBALS['stead_is_personal'] ?? false) || (function_exists($is) && $is());
    }
}
// As soon as it is known: filters of plugins take part in links, and may not expect to run while the head is being sent.
$GLOBALS['wp_filter']['wp'][PHP_INT_MAX]['stead'] = ['function' => 'stead_look_what_is_shown', 'accepted_args' => 0];

// A command has no head, and its callback would run when PHP has taken its extensions down.
if (PHP_SAPI === 'cli') {
    require_once __DIR__ . '/command.php';
} else {
    // Just before the head of an answer leaves: who made a change must not be told so before it counts, and pages that
    // plugins do not want to be kept (DONOTCACHEPAGE, which all page caches of WordPress honour) say so.
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
            // a page cache of the site's own, before WordPress was there: what it shows was true when it was made
            header('X-Stead-Cache: brief');
        } elseif (in_array($_SERVER['REQUEST_METHOD'] ?? '', ['GET', 'HEAD'], true) && !isset($GLOBALS['stead'])) {
            stead_say_what_is_shown();
        }
    });
}

// A network whose address has a port: sanitize_user, through which wpmu_create_blog puts the domain of a new site, would
// take the colon out, and nobody would find that site.
$GLOBALS['wp_filter']['sanitize_user'][10]['stead'] = [
    'function' => static fn ($name, $given = '') =>
        defined('DOMAIN_CURRENT_SITE') && $given === DOMAIN_CURRENT_SITE ? $given : $name,
    'accepted_args' => 2,
];

/** Has the host put back what is not PHP's to write, before the next page. */
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
 * WordPress was asked for and has not begun: there is no wp-config.php, so that it would offer its installer to the first who comes; or, in
 * safe mode, the site's own ends with an error.
 */
function stead_lacks_config(): bool
{
    if (!defined('ABSPATH') || defined('WP_START_TIMESTAMP')) {
        return false;
    }
    $file = ABSPATH . 'wp-config.php';
    // scripts that print styles do without it
    return !@filesize($file) || defined('STEAD_SAFE_MODE') && in_array($file, get_included_files(), true);
}

// What the site reaches its database by is not the site's to remove, or a plugin's: without it each page would end, those of the dashboard
// too. What is more than the drop-in the host puts back before PHP starts; it is asked to start it anew.
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

// A site's database that is gone or empty is not made anew: WordPress would greet its visitors with the installer, and give the
// site to the first who fills it in. The filter is the first that WordPress asks after it has read wp-config.php.
$GLOBALS['wp_filter']['enable_wp_debug_mode_checks'][-1]['stead'] = [
    'function' => static function ($enabled = true) {
        // the golden template is installed by a task, into nothing
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
        // the form that writes a wp-config.php would give the site to the first who fills it in
        if (defined('WP_SETUP_CONFIG') && $is_installed) {
            stead_ask_for_repair('config');
            echo 'This site is being repaired. Try again in a moment.';
            exit;
        }
        return $enabled;
    },
    'accepted_args' => 1,
];

// Without WP_DEBUG WordPress keeps deprecations out of the log. A plugin that raises E_USER_DEPRECATED speaks to the site's owner, so those are logged.
// PHP's own stay out: a plugin from before PHP 8.2 would fill the log with them.
$GLOBALS['wp_filter']['enable_wp_debug_mode_checks'][PHP_INT_MAX]['stead'] = [
    'function' => static function ($enabled = true) {
        if (!$enabled || WP_DEBUG) {
            return $enabled;
        }
        // what wp_debug_mode() does, and the one level more
        error_reporting(E_CORE_ERROR | E_CORE_WARNING | E_COMPILE_ERROR | E_ERROR | E_WARNING | E_PARSE | E_USER_ERROR | E_USER_WARNING | E_RECOVERABLE_ERROR | E_USER_DEPRECATED);
        $isForPrograms = defined('XMLRPC_REQUEST') || defined('REST_REQUEST') || defined('MS_FILES_REQUEST') || wp_installing();
        if ($isForPrograms || wp_doing_ajax() || wp_is_json_request()) {
            ini_set('display_errors', '0');
        }
        return false;
    },
    'accepted_args' => 1,
];

// Last, since it comes before what stands above. Said in php.ini, which nothing of the site can change.
if (get_cfg_var('stead.safe_mode')) {
    require_once __DIR__ . '/safe-mode.php';
}
