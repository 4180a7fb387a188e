<?php
// Not a task. Runs Adminer on the database of the site. The host requests it when a session says so
// (web-server/database-admin.ts). Nothing else can request it, because /stead is outside the web root. WordPress is not
// loaded. Adminer's warnings stay out of the log: it belongs to the site, whose owner could not fix their causes.
ini_set('log_errors', '0');

// On a server: the site's own login, with the same rights.
$login = json_decode((string) @file_get_contents('/run/stead/database.json'), true);
define('STEAD_LOGIN', is_array($login) ? [$login['host'], $login['user'], $login['password']] : ['', '', '']);
define('STEAD_DATABASE', is_array($login) ? $login['database'] : '/private/database/site.sqlite');
define('STEAD_DRIVER', is_array($login) ? 'server' : 'sqlite');
unset($login);

// It is the only database, whatever the address says. It needs no name and password, because the host has already
// checked access.
foreach (['server', 'sqlite', 'sqlite2', 'pgsql', 'oracle', 'mssql', 'firebird', 'simpledb', 'mongo', 'elastic', 'clickhouse'] as $other) {
    unset($_GET[$other]);
}
$_GET[STEAD_DRIVER] = '';
$_GET['username'] = STEAD_LOGIN[1];
$_GET['db'] = STEAD_DATABASE;
unset($_POST['auth'], $_GET['token']);
// Without this cookie, Adminer asks its author for news of itself.
$_COOKIE['adminer_version'] = '0';

session_name('stead_database_session');
session_set_cookie_params(['path' => '/stead-database/', 'httponly' => true, 'samesite' => 'Lax']);
session_cache_limiter('');
session_start();
$_SESSION['pwds'][STEAD_DRIVER][''][STEAD_LOGIN[1]] = '';

header('Cache-Control: no-store, private');
header('X-Stead-Cache: private');

// Data that WordPress keeps between requests, and pages that edges store, may depend on what was changed.
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    register_shutdown_function(static function (): void {
        stead_drop_object_cache();
        post_message_to_js(json_encode(['changed' => ['all' => true, 'files' => false, 'paths' => []]]));
    });
}

function adminer_object()
{
    // Since release 5, Adminer has a namespace.
    class_alias(class_exists('Adminer\\Adminer', false) ? 'Adminer\\Adminer' : 'Adminer', 'SteadAdminer');
    return new class () extends SteadAdminer {
        public function name()
        {
            return 'Database of ' . htmlspecialchars($_SERVER['HTTP_HOST'] ?? '', ENT_QUOTES);
        }

        public function credentials()
        {
            return STEAD_LOGIN;
        }

        public function database()
        {
            return STEAD_DATABASE;
        }

        public function databases($flush = true)
        {
            return [STEAD_DATABASE];
        }

        public function login($login, $password)
        {
            return true;
        }
    };
}

require '/stead/adminer.php';
