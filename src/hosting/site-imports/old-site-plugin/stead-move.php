<?php
/**
 * Plugin Name: Stead Move
 * Description: Lets one installation of Stead copy this site. Delete the plugin when the move is done.
 * Version: 1.0
 * Requires PHP: 7.0
 * License: GPL-2.0-or-later
 */

namespace Stead\Move;

if (!defined('ABSPATH')) {
    exit;
}

// Stead fills these in: the SHA-256 of the token, and the time from which the plugin no longer answers.
const TOKEN_HASH = '{token_hash}';
const EXPIRES = '{expires}';

const MOST_QUESTION_BYTES = 1048576;
const MOST_SECONDS = 8;
const MOST_ENTRIES = 5000;
const MOST_BYTES = 16777216;
const MOST_DUMP_BYTES = 4194304;
const PIECE_BYTES = 262144;
const INSERT_BYTES = 524288;

add_action('plugins_loaded', __NAMESPACE__ . '\\answer', PHP_INT_MIN);
add_action('admin_notices', __NAMESPACE__ . '\\notice');

function notice()
{
    if (!current_user_can('activate_plugins')) {
        return;
    }
    $text = time() > (int) EXPIRES
        ? 'Stead Move has expired. You can delete it.'
        : 'Stead Move is active: your installation of Stead can copy this site. Delete the plugin when the move is done.';
    echo '<div class="notice notice-info"><p>' . esc_html($text) . '</p></div>';
}

/** Answers one request of Stead. Each answer takes a few seconds at most, and Stead then requests the rest. */
function answer()
{
    if (!isset($_GET['stead-move'], $_SERVER['REQUEST_METHOD']) || $_SERVER['REQUEST_METHOD'] !== 'POST') {
        return;
    }
    $question = json_decode((string) file_get_contents('php://input', false, null, 0, MOST_QUESTION_BYTES), true);
    $token = isset($question['token']) && is_string($question['token']) ? $question['token'] : '';
    while (ob_get_level() > 0 && @ob_end_clean()) {
        continue;
    }
    if (time() > (int) EXPIRES || !hash_equals(TOKEN_HASH, hash('sha256', $token))) {
        status_header(403);
        exit('stead-move: refused');
    }
    @ini_set('display_errors', '0');
    @ini_set('zlib.output_compression', '0');
    status_header(200);
    nocache_headers();
    header('Content-Type: application/octet-stream');
    header('X-Accel-Buffering: no');
    echo "stead-move 1\n";
    is_late(true);
    $do = isset($question['do']) ? $question['do'] : '';
    $end = array();
    if ($do === 'hello') {
        hello();
    } elseif ($do === 'list') {
        list_folders((array) $question['folders']);
    } elseif ($do === 'fetch') {
        fetch_files((array) $question['files']);
    } elseif ($do === 'tables') {
        foreach (tables() as $table) {
            send(array('table' => $table));
        }
    } elseif ($do === 'rows') {
        $end['next'] = send_rows((string) $question['table'], $question['after'], max(1, (int) $question['rows']));
    }
    send(array('end' => true) + $end);
    exit;
}

/** Starts the time limit of an answer, or returns whether it is over. */
function is_late($begins = false)
{
    static $until = 0.0;
    if ($begins) {
        $allowed = (int) ini_get('max_execution_time');
        $until = microtime(true) + ($allowed > 0 ? min(MOST_SECONDS, $allowed / 3) : MOST_SECONDS);
    }
    return microtime(true) > $until;
}

/** Sends a line, and the bytes that it announces as `n`. */
function send(array $line, $bytes = '')
{
    if ($bytes !== '') {
        $line['n'] = strlen($bytes);
    }
    echo json_encode($line, JSON_UNESCAPED_SLASHES), "\n", $bytes;
    flush();
}

function hello()
{
    global $wpdb;
    $version = isset($GLOBALS['wp_version']) ? (string) $GLOBALS['wp_version'] : '';
    $facts = array('wordpress' => $version, 'php' => PHP_VERSION, 'prefix' => (string) $wpdb->base_prefix);
    send(array('hello' => $facts));
}

/** Returns the path of an entry below wp-content, or null if it leads elsewhere. */
function path_of($path)
{
    if (!is_string($path) || strpos($path, "\0") !== false || preg_match('~(^|/)\.{1,2}(/|$)|^/~', $path)) {
        return null;
    }
    return $path === '' ? WP_CONTENT_DIR : WP_CONTENT_DIR . '/' . $path;
}

function list_folders(array $folders)
{
    $sent = 0;
    foreach ($folders as $number => $asked) {
        $path = path_of($asked['path']);
        $isThere = $path !== null && ($asked['path'] === '' || !is_link($path));
        $names = $isThere ? @scandir($path) : false;
        if ($names === false) {
            send(array('folder' => $number, 'gone' => true));
            continue;
        }
        $names = array_values(array_diff($names, array('.', '..')));
        $from = max(0, (int) $asked['from']);
        do {
            $some = array_slice($names, $from, 1000);
            $entries = array();
            foreach ($some as $name) {
                $entry = entry($path . '/' . $name, $name);
                if ($entry !== null) {
                    $entries[] = $entry;
                }
            }
            $from += count($some);
            $sent += count($some);
            $isAll = $from >= count($names);
            send(array('folder' => $number, 'entries' => $entries, 'next' => $isAll ? null : $from));
            if ($sent >= MOST_ENTRIES || is_late()) {
                return;
            }
        } while (!$isAll);
    }
}

/** Returns the name, kind, size, and time of change of an entry, or null for this plugin itself. */
function entry($path, $name)
{
    if (realpath($path) === realpath(__DIR__)) {
        return null;
    }
    $stat = @lstat($path);
    $kind = is_link($path) ? 'link' : (is_dir($path) ? 'folder' : (is_file($path) ? 'file' : 'other'));
    // A name that is not UTF-8 cannot be sent. Stead leaves the entry out, and reports it.
    $shown = preg_match('//u', $name) ? $name : "\u{FFFD}";
    return array($shown, $kind, $stat ? $stat['size'] : 0, $stat ? $stat['mtime'] : 0);
}

function fetch_files(array $files)
{
    $sent = 0;
    foreach ($files as $number => $asked) {
        $path = path_of($asked['path']);
        $handle = $path !== null && is_file($path) ? @fopen($path, 'rb') : false;
        if ($handle === false) {
            send(array('file' => $number, 'gone' => true));
            continue;
        }
        $at = max(0, (int) $asked['at']);
        fseek($handle, $at);
        while ($at < (int) $asked['end']) {
            $piece = fread($handle, min(PIECE_BYTES, (int) $asked['end'] - $at));
            if ($piece === false || $piece === '') {
                break;
            }
            send(array('file' => $number), $piece);
            $at += strlen($piece);
            $sent += strlen($piece);
            if ($at < (int) $asked['end'] && ($sent >= MOST_BYTES || is_late())) {
                fclose($handle);
                return;
            }
        }
        fclose($handle);
        send(array('file' => $number, 'done' => true));
        if ($sent >= MOST_BYTES || is_late()) {
            return;
        }
    }
}

/** Returns the tables of this WordPress. */
function tables()
{
    global $wpdb;
    $tables = array();
    foreach ((array) $wpdb->get_results('SHOW FULL TABLES', ARRAY_N) as $row) {
        if (strpos($row[0], $wpdb->base_prefix) === 0 && (!isset($row[1]) || $row[1] !== 'VIEW')) {
            $tables[] = $row[0];
        }
    }
    return $tables;
}

function quoted_name($name)
{
    return '`' . str_replace('`', '``', $name) . '`';
}

/**
 * Sends rows of a table as SQL, and before the first ones its definition.
 *
 * @param mixed $after the position at which the last answer ended; null at the beginning
 * @return mixed null after the last one
 */
function send_rows($table, $after, $most)
{
    global $wpdb;
    if (!in_array($table, tables(), true)) {
        return null;
    }
    $wpdb->suppress_errors(true);
    $wpdb->set_charset($wpdb->dbh, 'utf8mb4');
    $name = quoted_name($table);
    $columns = array();
    $keys = array();
    foreach ((array) $wpdb->get_results("SHOW COLUMNS FROM $name", ARRAY_A) as $column) {
        if (stripos($column['Extra'], 'GENERATED') !== false && stripos($column['Extra'], 'DEFAULT_GENERATED') === false) {
            continue;
        }
        $columns[$column['Field']] = kind_of($column['Type']);
        if ($column['Key'] === 'PRI') {
            $keys[] = $column['Field'];
        }
    }
    if (!is_array($after)) {
        $create = $wpdb->get_row("SHOW CREATE TABLE $name", ARRAY_N);
        send(array(), "DROP TABLE IF EXISTS $name;\n" . rtrim((string) $create[1], "; \n") . ";\n");
        $after = array('key' => null, 'offset' => 0);
    }
    $byKey = count($keys) === 1 && $columns[$keys[0]] === 'integer';
    $list = implode(', ', array_map(__NAMESPACE__ . '\\quoted_name', array_keys($columns)));
    $order = $keys ? ' ORDER BY ' . implode(', ', array_map(__NAMESPACE__ . '\\quoted_name', $keys)) : '';
    $sent = 0;
    do {
        $isKey = isset($after['key']) && preg_match('/^-?\d+$/', (string) $after['key']);
        $where = $byKey && $isKey ? ' WHERE ' . quoted_name($keys[0]) . ' > ' . $after['key'] : '';
        $limit = $byKey ? $most : (int) $after['offset'] . ', ' . $most;
        $rows = $wpdb->get_results("SELECT $list FROM $name$where$order LIMIT $limit", ARRAY_N);
        if ($wpdb->last_error !== '') {
            send(array('fault' => $wpdb->last_error));
            exit;
        }
        $sent += send_inserts("INSERT INTO $name ($list) VALUES\n", (array) $rows, array_values($columns));
        $count = count((array) $rows);
        if ($count < $most) {
            return null;
        }
        $after['offset'] += $count;
        if ($byKey) {
            $last = end($rows);
            $after['key'] = (string) $last[array_search($keys[0], array_keys($columns), true)];
        }
    } while ($sent < MOST_DUMP_BYTES && !is_late());
    return $after;
}

/** Returns how to write values of a type. */
function kind_of($type)
{
    if (preg_match('/^(tiny|small|medium|big)?int/i', $type)) {
        return 'integer';
    }
    if (preg_match('/^(decimal|numeric|float|double|real)/i', $type)) {
        return 'number';
    }
    return preg_match('/^(tiny|medium|long)?blob|^(var)?binary|^bit|geometry|point|polygon|linestring/i', $type) ? 'bytes' : 'text';
}

function send_inserts($begin, array $rows, array $kinds)
{
    $text = '';
    $sent = 0;
    foreach ($rows as $row) {
        $values = array();
        foreach ($row as $at => $value) {
            $values[] = sql_value($value, $kinds[$at]);
        }
        $text .= ($text === '' ? $begin : ",\n") . '(' . implode(', ', $values) . ')';
        if (strlen($text) >= INSERT_BYTES) {
            $sent += send_text($text . ";\n");
            $text = '';
        }
    }
    return $sent + ($text === '' ? 0 : send_text($text . ";\n"));
}

function send_text($text)
{
    foreach (str_split($text, PIECE_BYTES) as $piece) {
        send(array(), $piece);
    }
    return strlen($text);
}

function sql_value($value, $kind)
{
    if ($value === null) {
        return 'NULL';
    }
    $value = (string) $value;
    if ($kind === 'bytes') {
        return $value === '' ? "''" : '0x' . bin2hex($value);
    }
    if (($kind === 'integer' || $kind === 'number') && preg_match('/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i', $value)) {
        return $value;
    }
    $escapes = array(
        '\\' => '\\\\', "'" => "\\'", "\0" => '\\0', "\n" => '\\n', "\r" => '\\r', "\x1a" => '\\Z',
    );
    return "'" . strtr($value, $escapes) . "'";
}
