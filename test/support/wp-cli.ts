/**
 * Stands in for WP-CLI, whose phar the project does not include. It makes the same calls to PHP and to the machine. It
 * reads `$argv` and STDIN, ends with `exit`, and finds WordPress from its folder. It writes to the streams STDOUT and
 * STDERR, never with `echo`. Where WP-CLI starts programs (itself, `rm`, `which`, `mariadb`, a pager), it starts the
 * same ones with `proc_open`. `real-wp-cli.test.ts` runs the real one where it is installed.
 */
export const wpCliStandIn = String.raw`#!/usr/bin/env php
<?php
if (PHP_SAPI !== 'cli') {
    echo "Only CLI access.\n";
    die(-1);
}
$_SERVER['REQUEST_METHOD'] = 'GET';
$_SERVER['REMOTE_ADDR'] = '127.0.0.1';
$words = [];
$options = [];
foreach (array_slice($argv, 1) as $word) {
    if (preg_match('~^--([a-z_-]+)(?:=(.*))?$~s', $word, $match)) {
        $options[$match[1]] = $match[2] ?? true;
    } else {
        $words[] = $word;
    }
}
function fail($text)
{
    fwrite(STDERR, "Error: $text\n");
    exit(1);
}
/** Real WP-CLI prints past PHP's output, so that nothing sends a head before PHP ends. */
function line($text)
{
    fwrite(STDOUT, "$text\n");
}
/** As WP_CLI\Process: output is read through pipes. */
function launch($command)
{
    $process = proc_open($command, [STDIN, ['pipe', 'w'], ['pipe', 'w']], $pipes, null, []);
    $said = [stream_get_contents($pipes[1]), stream_get_contents($pipes[2])];
    array_map('fclose', $pipes);
    return [proc_close($process), ...$said];
}
/** As WP_CLI::runcommand(): what it prints is seen at once. */
function run_command($command)
{
    $php = escapeshellarg(PHP_BINARY);
    $code = proc_close(proc_open("$php {$GLOBALS['argv'][0]}  $command", [STDIN, STDOUT, STDERR], $pipes, getcwd()));
    $code && exit($code);
}
function sql($statement)
{
    // its constants alone, without WordPress
    define('ABSPATH', getcwd() . '/');
    eval(preg_replace('~^<\?php|require_once .*wp-settings.*~m', '', file_get_contents('wp-config.php')));
    $options = '--host=' . escapeshellarg(DB_HOST) . ' --user=' . escapeshellarg(DB_USER) . ' --execute=' . escapeshellarg($statement);
    putenv('MYSQL_PWD=' . DB_PASSWORD);
    return launch('/usr/bin/env mariadb --no-defaults --no-auto-rehash ' . $options);
}
function load()
{
    define('WP_CLI', true);
    define('WP_USE_THEMES', false);
    require getcwd() . '/wp-load.php';
}
if (($words[0][0] ?? '') === '@') {
    $aliases = json_decode((string) getenv('WP_CLI_RUNTIME_ALIAS'), true);
    $alias = array_shift($words);
    isset($aliases[$alias]) || fail("Alias '$alias' not found.");
}
[$group, $verb, $first, $second] = $words + ['', '', '', ''];
if ($group === 'args') {
    echo json_encode(array_slice($argv, 1)), "\n";
} elseif ($group === 'env') {
    echo json_encode([getcwd(), getenv('HOME'), is_writable(getenv('HOME')), extension_loaded('phar'), getenv('SHELL_PIPE'), getenv('COLUMNS')]), "\n";
} elseif ("$group $verb" === 'core version') {
    require getcwd() . '/wp-includes/version.php';
    line($wp_version);
} elseif ("$group $verb" === 'option get') {
    load();
    $value = get_option($first);
    $value === false ? fail("Could not get '$first' option. Does it exist?") : line($value);
} elseif ("$group $verb" === 'option update') {
    load();
    update_option($first, $second);
    line("Success: Updated '$first' option.");
} elseif ("$group $verb" === 'plugin list') {
    load();
    require_once ABSPATH . 'wp-admin/includes/plugin.php';
    $rows = [];
    foreach (get_plugins() as $file => $plugin) {
        $rows[] = ['name' => dirname($file) === '.' ? basename($file, '.php') : dirname($file), 'status' => is_plugin_active($file) ? 'active' : 'inactive', 'version' => $plugin['Version']];
    }
    fwrite(STDOUT, json_encode($rows));
} elseif ("$group $verb" === 'core is-installed') {
    load();
    exit(is_blog_installed() ? 0 : 1);
} elseif ("$group $verb" === 'rewrite structure') {
    load();
    $GLOBALS['wp_rewrite']->set_permalink_structure($first);
    line('Success: Rewrite structure set.');
    run_command('rewrite flush');
} elseif ("$group $verb" === 'rewrite flush') {
    load();
    flush_rewrite_rules(false);
    line('Success: Rewrite rules flushed.');
} elseif ("$group $verb" === 'plugin delete') {
    load();
    [$code] = launch('rm -rf ' . escapeshellarg(WP_PLUGIN_DIR . "/$first"));
    $code ? fail("No plugins deleted.") : line("Deleted '$first' plugin.\nSuccess: Deleted 1 of 1 plugins.");
} elseif ("$group $verb" === 'cli info') {
    [$code, $path] = launch('/usr/bin/env which mariadb');
    line("MySQL binary:\t" . trim($path) . "\nMySQL version:\t" . trim(launch('/usr/bin/env mariadb --version')[1]));
} elseif ($group === 'help') {
    $text = fopen('php://temp', 'r+b');
    fwrite($text, "NAME\n");
    rewind($text);
    exit(proc_close(proc_open('less -R', [$text, STDOUT, STDERR], $pipes)));
} elseif ("$group $verb" === 'db query') {
    [$code, $out, $err] = sql($first);
    $code ? fail("Query failed: $err") : line($out);
} elseif ($group === 'launch') {
    fwrite(STDOUT, json_encode(launch($verb)));
} elseif ("$group $verb" === 'config set') {
    // WPConfigTransformer::add()
    $config = file_get_contents('wp-config.php');
    $anchor = "/* That's all, stop editing!";
    str_contains($config, $anchor) || fail("Could not process the 'wp-config.php' transformation.\nReason: Unable to locate placement anchor.");
    file_put_contents('wp-config.php', str_replace($anchor, "define( '$first', '$second' );\n$anchor", $config), LOCK_EX);
    line("Success: Added the constant '$first' to the 'wp-config.php' file with the value '$second'.");
} elseif ($group === 'eval-file' || $group === 'eval') {
    if (empty($options['skip-wordpress'])) {
        load();
    }
    $code = $group === 'eval' ? $verb : ($verb === '-' ? stream_get_contents(STDIN) : file_get_contents($verb));
    eval($group === 'eval' ? $code : '?>' . $code);
} elseif ($group === 'search-replace') {
    load();
    global $wpdb;
    [$changed, $tick] = [0, chr(96)];
    // the real one unpacks what is serialized
    foreach ([$wpdb->posts => 'post_content', $wpdb->options => 'option_value'] as $table => $column) {
        $update = "UPDATE $tick$table$tick SET $tick$column$tick = REPLACE($tick$column$tick, %s, %s) WHERE $tick$column$tick NOT LIKE 'a:%%'";
        $changed += $wpdb->query($wpdb->prepare($update, $verb, $first));
    }
    line("Success: Made $changed replacements.");
} else {
    fail("'$group' is not a registered wp command. See 'wp help' for available commands.");
}
`
