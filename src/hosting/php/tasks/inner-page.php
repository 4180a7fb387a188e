<?php
// {page: admin | editor | rest} → {status, isWhole, isRedirect, databaseErrors}. Renders the dashboard or the editor as
// the first administrator gets it, or the index of the REST API. If the page ends in a fatal error, returns PHP's own
// message, and WordPress sends no mail about it.
$GLOBALS['wp_filter']['wp_fatal_error_handler_enabled'][PHP_INT_MAX]['stead'] = [
    'function' => static fn () => false,
    'accepted_args' => 0,
];
$stead_script = ['admin' => '/wp-admin/index.php', 'editor' => '/wp-admin/post-new.php', 'rest' => '/index.php'][$stead['input']['page']];
$_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = $_SERVER['REQUEST_URI'] = $stead_script;
if ($stead_script === '/index.php') {
    $_SERVER['REQUEST_URI'] = '/?rest_route=/';
    $_GET['rest_route'] = $_REQUEST['rest_route'] = '/';
} else {
    // Plugins that were just activated greet the administrator with a page of theirs, except with this parameter.
    $_GET['activate-multi'] = $_REQUEST['activate-multi'] = '1';
    $GLOBALS['wp_filter']['plugins_loaded'][PHP_INT_MIN]['stead'] = ['function' => 'stead_log_in', 'accepted_args' => 0];
}

/** Logs the first administrator in for this request, with cookies and a session that is not stored. */
function stead_log_in(): void
{
    $users = get_users(['role' => 'administrator', 'number' => 1, 'orderby' => 'ID']);
    if (!$users) {
        throw new RuntimeException('the site has no administrator');
    }
    add_filter('session_token_manager', static function (): string {
        if (!class_exists('Stead_Session', false)) {
            class_alias(get_class(new class (0) extends WP_Session_Tokens {
                public function __construct($user_id)
                {
                    $this->user_id = $user_id;
                }
                protected function get_sessions()
                {
                    return [];
                }
                protected function get_session($verifier)
                {
                    return ['expiration' => time() + 3600, 'login' => time()];
                }
                protected function update_session($verifier, $session = null)
                {
                }
                protected function destroy_other_sessions($verifier)
                {
                }
                protected function destroy_all_sessions()
                {
                }
                public static function drop_sessions()
                {
                }
            }), 'Stead_Session');
        }
        return 'Stead_Session';
    }, PHP_INT_MAX);
    foreach (['auth' => AUTH_COOKIE, 'secure_auth' => SECURE_AUTH_COOKIE, 'logged_in' => LOGGED_IN_COOKIE] as $scheme => $cookie) {
        $_COOKIE[$cookie] = wp_generate_auth_cookie($users[0]->ID, time() + 3600, $scheme, 'stead');
    }
}

// Deletes the draft that the editor starts with, without firing hooks.
$GLOBALS['wp_filter']['save_post'][PHP_INT_MIN]['stead'] = [
    'function' => static function ($id, $post = null): void {
        if (($post->post_status ?? '') === 'auto-draft') {
            $GLOBALS['stead_drafts'][] = (int) $id;
        }
    },
    'accepted_args' => 2,
];

/** Also called if the page ended the request itself, as the REST API does. */
$GLOBALS['stead_ended'] = static function () use ($stead): array {
    global $wpdb;
    $page = '';
    while (ob_get_level() > 0) {
        $page = ob_get_clean() . $page;
    }
    foreach ($GLOBALS['stead_drafts'] ?? [] as $id) {
        $wpdb->delete($wpdb->posts, ['ID' => $id, 'post_status' => 'auto-draft']);
        $wpdb->delete($wpdb->postmeta, ['post_id' => $id]);
    }
    $isJson = is_array(json_decode(trim($page), true));
    $isRedirect = preg_grep('/^Location:/i', headers_list()) !== [];
    return [
        'status' => (int) (http_response_code() ?: 200),
        'isWhole' => $stead['input']['page'] === 'rest' ? $isJson : stripos($page, '</html>') !== false,
        'isRedirect' => $isRedirect,
        'databaseErrors' => stead_database_errors(),
    ];
};

if ($stead_script === '/index.php') {
    define('WP_USE_THEMES', true);
    require '/wordpress/wp-blog-header.php';
} else {
    require "/wordpress$stead_script";
}

return $GLOBALS['stead_ended'];
