<?php
// {from, to} → {rows}. Rewrites a site's own address everywhere in its database: wpdb over all tables, serialized values
// included. Values are never unserialized (that would run code of the site's classes): their text is rewritten, with lengths.
require '/wordpress/wp-load.php';

/** Reads one serialized value at $at and appends it, rewritten, to $out; false when it is none. */
function stead_rewrite_serialized(string $text, int &$at, string &$out, callable $rewrite): bool
{
    if (preg_match('/\G(?:N;|[bi]:-?\d+;|d:[^;]{1,40};|[rR]:\d+;|E:\d+:"[^"]+";)/', $text, $match, 0, $at)) {
        $at += strlen($match[0]);
        $out .= $match[0];
        return true;
    }
    if (preg_match('/\Gs:(\d+):"/', $text, $match, 0, $at)) {
        $start = $at + strlen($match[0]);
        $value = substr($text, $start, (int) $match[1]);
        if (strlen($value) !== (int) $match[1] || substr($text, $start + strlen($value), 2) !== '";') {
            return false;
        }
        $at = $start + strlen($value) + 2;
        $value = $rewrite($value);
        $out .= 's:' . strlen($value) . ':"' . $value . '";';
        return true;
    }
    if (preg_match('/\G(?:a:(\d+):\{|O:\d+:"[^"]+":(\d+):\{)/', $text, $match, 0, $at)) {
        $at += strlen($match[0]);
        $out .= $match[0];
        $parts = 2 * (int) ($match[1] !== '' ? $match[1] : $match[2]);
        for ($part = 0; $part < $parts; $part++) {
            if (!stead_rewrite_serialized($text, $at, $out, $rewrite)) {
                return false;
            }
        }
        if (($text[$at] ?? '') !== '}') {
            return false;
        }
        $at++;
        $out .= '}';
        return true;
    }
    return false;
}

return static function (array $input): array {
    global $wpdb;
    [$host, $port] = explode(':', $input['from']) + [1 => null];
    // As an address stands in text, in JSON (\/, and \\\/ in JSON in JSON) and percent-encoded; never as part of a longer
    // host name or another port.
    $pattern = '~((?:\\\\*/){2}|%2F%2F)' . preg_quote($host, '~')
        . ($port === null ? '' : '(?::|%3A)' . $port) . '(?![\w.-]*\w|(?::|%3A)\d)~i';
    $rewrite = static function (string $text) use (&$rewrite, $input, $host, $pattern): string {
        if (stripos($text, $host) === false) {
            return $text;
        }
        if (strcasecmp($text, $input['from']) === 0) {
            return $input['to'];
        }
        if (preg_match('/^(?:[aOC]:\d+:.*\}|[sE]:\d+:".*";)$/Ds', $text)) {
            $at = 0;
            $out = '';
            // one that cannot be read stays as it is: a length that is wrong would cost its owner the whole value
            return stead_rewrite_serialized($text, $at, $out, $rewrite) && $at === strlen($text) ? $out : $text;
        }
        $new = preg_replace_callback(
            $pattern,
            static fn ($match) => $match[1]
                . (str_starts_with($match[1], '%') ? str_replace(':', '%3A', $input['to']) : $input['to']),
            $text
        );
        if ($new === null) {
            throw new RuntimeException('a text could not be searched: ' . preg_last_error_msg());
        }
        return $new;
    };
    $rows = 0;
    foreach ($wpdb->get_col('SHOW TABLES') as $table) {
        if (!str_starts_with($table, $wpdb->base_prefix)) {
            continue;
        }
        $columns = $wpdb->get_results("SHOW COLUMNS FROM `$table`");
        $keys = array_column(array_filter($columns, static fn ($column) => $column->Key === 'PRI'), 'Field');
        $texts = array_column(
            array_filter($columns, static fn ($column) => preg_match('/char|text|json/i', $column->Type)),
            'Field'
        );
        if (!$keys) {
            continue;
        }
        foreach (array_diff($texts, $keys) as $column) {
            $like = '%' . $wpdb->esc_like($host) . '%';
            $list = '`' . implode('`, `', $keys) . '`';
            $found = $wpdb->get_results($wpdb->prepare("SELECT $list, `$column` FROM `$table` WHERE `$column` LIKE %s", $like), ARRAY_A);
            foreach ($found as $row) {
                $new = $rewrite($row[$column]);
                if ($new === $row[$column]) {
                    continue;
                }
                $where = array_intersect_key($row, array_flip($keys));
                if ($wpdb->update($table, [$column => $new], $where) === false) {
                    throw new RuntimeException("$table: $wpdb->last_error");
                }
                $rows++;
            }
        }
    }
    wp_cache_flush();
    return ['rows' => $rows];
};
