/**
 * Stands in for WP-CLI, whose phar cannot be had in the tests: a PHP file of the same kind. It is run by PHP's command line, reads `$argv`
 * and STDIN, writes to STDOUT and STDERR, ends by `exit`, finds WordPress from the folder that it is started in, and does a few of
 * WP-CLI's commands by WordPress' own functions. What only the real one has (its packages, its way of loading wp-config.php) is not tried.
 */
export const wpCliStandIn = String.raw`#!/usr/bin/env php
<?php
if (PHP_SAPI !== 'cli') {
    echo "Only CLI access.\n";
    die(-1);
}
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
function load()
{
    define('WP_CLI', true);
    define('WP_USE_THEMES', false);
    require getcwd() . '/wp-load.php';
}
[$group, $verb, $first, $second] = $words + ['', '', '', ''];
if ($group === 'args') {
    echo json_encode(array_slice($argv, 1)), "\n";
} elseif ($group === 'env') {
    echo json_encode([getcwd(), getenv('HOME'), is_writable(getenv('HOME')), extension_loaded('phar'), getenv('SHELL_PIPE'), getenv('COLUMNS')]), "\n";
} elseif ("$group $verb" === 'core version') {
    require getcwd() . '/wp-includes/version.php';
    echo $wp_version, "\n";
} elseif ("$group $verb" === 'option get') {
    load();
    $value = get_option($first);
    $value === false ? fail("Could not get '$first' option. Does it exist?") : print("$value\n");
} elseif ("$group $verb" === 'option update') {
    load();
    update_option($first, $second);
    echo "Success: Updated '$first' option.\n";
} elseif ("$group $verb" === 'plugin list') {
    load();
    require_once ABSPATH . 'wp-admin/includes/plugin.php';
    $rows = [];
    foreach (get_plugins() as $file => $plugin) {
        $rows[] = ['name' => dirname($file) === '.' ? basename($file, '.php') : dirname($file), 'status' => is_plugin_active($file) ? 'active' : 'inactive', 'version' => $plugin['Version']];
    }
    echo json_encode($rows);
} elseif ($group === 'eval-file' || $group === 'eval') {
    if (empty($options['skip-wordpress'])) {
        load();
    }
    $code = $group === 'eval' ? $verb : ($verb === '-' ? stream_get_contents(STDIN) : file_get_contents($verb));
    eval($group === 'eval' ? $code : '?>' . $code);
} elseif ($group === 'search-replace') {
    load();
    global $wpdb;
    $changed = $wpdb->query($wpdb->prepare("UPDATE $wpdb->posts SET post_content = REPLACE(post_content, %s, %s)", $verb, $first));
    $changed += $wpdb->query($wpdb->prepare("UPDATE $wpdb->options SET option_value = REPLACE(option_value, %s, %s) WHERE option_name IN ('home', 'siteurl')", $verb, $first));
    echo "Success: Made $changed replacements.\n";
} else {
    fail("'$group' is not a registered wp command. See 'wp help' for available commands.");
}
`
