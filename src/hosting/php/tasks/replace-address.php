<?php
// {from, to} → {rows}. Rewrites a site's own address everywhere in its database, through wpdb, in all tables, including
// serialized values. Values are never unserialized, because that would run code of the site's classes. Instead their
// text is rewritten, with lengths. Does the same as site-database/rewrite-addresses.ts: the cases in
// rewrite-cases.fixture.ts apply to both.
require '/wordpress/wp-load.php';

// A change of a text is [start, end, replacement].

/** Returns the text after changes. They must be in order and must not overlap. */
function stead_edited(string $text, array $edits): string
{
    $out = '';
    $at = 0;
    foreach ($edits as [$start, $end, $instead]) {
        $out .= substr($text, $at, $start - $at) . $instead;
        $at = $end;
    }
    return $out . substr($text, $at);
}

/**
 * Reads one serialized value at $at, and adds the changes in it to $edits. Returns false if it is not a serialized
 * value.
 */
function stead_serialized_edits(string $text, int &$at, array &$edits, callable $editsOf): bool
{
    if (preg_match('/\G(?:N;|[bi]:-?\d+;|d:[^;]{1,40};|[rR]:\d+;|E:\d+:"[^"]+";)/', $text, $match, 0, $at)) {
        $at += strlen($match[0]);
        return true;
    }
    if (preg_match('/\Gs:(\d+):"/', $text, $match, 0, $at)) {
        $start = $at + strlen($match[0]);
        $value = substr($text, $start, (int) $match[1]);
        if (strlen($value) !== (int) $match[1] || substr($text, $start + strlen($value), 2) !== '";') {
            return false;
        }
        $at = $start + strlen($value) + 2;
        $inner = $editsOf($value);
        if ($inner) {
            $length = strlen($value);
            foreach ($inner as [$from, $to, $instead]) {
                $length += strlen($instead) - ($to - $from);
            }
            // s:24:"…
            $edits[] = [$start - 2 - strlen($match[1]), $start - 2, (string) $length];
        }
        foreach ($inner as [$from, $to, $instead]) {
            $edits[] = [$start + $from, $start + $to, $instead];
        }
        return true;
    }
    // An object that serializes itself. Only its class knows what the text means.
    if (preg_match('/\GC:\d+:"[^"]{1,1000}":(\d+):\{/', $text, $match, 0, $at)) {
        $end = $at + strlen($match[0]) + (int) $match[1];
        if (($text[$end] ?? '') !== '}') {
            return false;
        }
        $at = $end + 1;
        return true;
    }
    if (preg_match('/\G(?:a:(\d+):\{|O:\d+:"[^"]+":(\d+):\{)/', $text, $match, 0, $at)) {
        $at += strlen($match[0]);
        $parts = 2 * (int) ($match[1] !== '' ? $match[1] : $match[2]);
        for ($part = 0; $part < $parts; $part++) {
            if (!stead_serialized_edits($text, $at, $edits, $editsOf)) {
                return false;
            }
        }
        if (($text[$at] ?? '') !== '}') {
            return false;
        }
        $at++;
        return true;
    }
    return false;
}

/** Returns whether WordPress would take the text for serialized. WordPress trims it before it checks. */
function stead_looks_serialized(string $text): bool
{
    return preg_match('/^[ \t\n\r\0\x0B]*(?:[aOC]:\d+:|[sE]:\d+:")/', $text) === 1
        && preg_match('/[;}][ \t\n\r\0\x0B]*$/D', substr($text, -64)) === 1;
}

/**
 * Returns the next JSON text from $at that is serialized, or that is JSON containing such texts. The result is [start,
 * end, meaning without escapes, turns]. Each turn is a pair of offsets: one in the meaning, one in the written text.
 * From a turn up to the next one, both texts are equal.
 */
function stead_next_quoted(string $text, int $at): ?array
{
    if (!preg_match('/s:\d+:\\\\/', $text)) {
        return null;
    }
    while (preg_match('/(?<!\\\\)"(?=[ \t\n\r]{0,64}(?:[aO]:\d|s:\d+:\\\\|[[{]|\\\\))/', $text, $match, PREG_OFFSET_CAPTURE, $at)) {
        $start = $at = $match[0][1] + 1;
        $end = $start + strcspn($text, '"\\', $start);
        while (($text[$end] ?? '') === '\\') {
            $end = min($end + 2, strlen($text));
            $end += strcspn($text, '"\\', $end);
        }
        if ($end >= strlen($text)) {
            return null;
        }
        $written = substr($text, $start, $end - $start);
        $read = preg_match('/s:\d+:\\\\/', $written) ? stead_unescaped($written) : null;
        if ($read !== null) {
            return [$start, $end, ...$read];
        }
    }
    return null;
}

/** Removes the escapes of JSON. Returns null if one of them is invalid, or half a character. */
function stead_unescaped(string $written): ?array
{
    $meant = '';
    $turns = [[0, 0]];
    $at = 0;
    while (($next = strpos($written, '\\', $at)) !== false) {
        if (!preg_match('/\G\\\\(?:ud[89ab][0-9a-f]{2}\\\\ud[c-f][0-9a-f]{2}|u[0-9a-f]{4}|(?-i:["\\\\\/bfnrt]))/i', $written, $match, 0, $next)) {
            return null;
        }
        $character = json_decode("\"$match[0]\"");
        if (!is_string($character)) {
            return null;
        }
        $meant .= substr($written, $at, $next - $at);
        $turns[] = [strlen($meant), $next];
        $meant .= $character;
        $at = $next + strlen($match[0]);
        $turns[] = [strlen($meant), $at];
    }
    return [$meant . substr($written, $at), $turns];
}

function stead_place_of(array $turns, int $meant): int
{
    [$low, $high] = [0, count($turns) - 1];
    while ($low < $high) {
        $middle = intdiv($low + $high + 1, 2);
        if ($turns[$middle][0] <= $meant) {
            $low = $middle;
        } else {
            $high = $middle - 1;
        }
    }
    return $turns[$low][1] + $meant - $turns[$low][0];
}

/**
 * Writes a name with the dashes of another. The block editor escapes two dashes in its comments, which they would end.
 */
function stead_like_dashes(string $found, string $name): string
{
    return preg_match('/\\\\{1,63}u002d/i', $found, $dash) ? str_replace('--', $dash[0] . $dash[0], $name) : $name;
}

return static function (array $input): array {
    global $wpdb;
    [$host, $port] = explode(':', $input['from']) + [1 => null];
    $name = str_replace('\-\-', '(?:--|\\\\{1,63}u002d\\\\{1,63}u002d)', preg_quote($host, '~'));
    $address = $name . ($port === null ? '' : '(?::|%(?:25)*3A)' . $port);
    // Matches an address in text, in JSON (\/, and \\\/ in JSON in JSON), percent-encoded, or as the whole text in
    // quotes. Never matches part of a longer host name, or an address with another port.
    $pattern = '~((?:\\\\{0,63}/){2}|(?:%(?:25){0,8}2F){2})(' . $address . ')(?![.-]{0,8}\w|(?::|%(?:25){0,8}3A)\d)'
        . '|(\\\\{0,63}")(' . $address . ')(?=\\\\{0,63}")~i';
    [$newName, $newPort] = explode(':', $input['to']) + [1 => null];
    $written = static function (string $found, string $slashes) use ($newName, $newPort): string {
        $colon = ':';
        if (preg_match('/%(?:25)*3A/i', $found, $encoded)) {
            $colon = $encoded[0];
        } elseif (preg_match('/^%((?:25)*)/', $slashes, $encoded) && !preg_match('/:\d+$/', $found)) {
            $colon = "%{$encoded[1]}3A";
        }
        return stead_like_dashes($found, $newName) . ($newPort === null ? '' : $colon . $newPort);
    };
    $inText = static function (string $text, int $depth) use (&$editsOf, $pattern, $written): array {
        if (preg_match_all($pattern, $text, $matches, PREG_SET_ORDER | PREG_OFFSET_CAPTURE | PREG_UNMATCHED_AS_NULL) === false) {
            throw new RuntimeException('a text could not be searched: ' . preg_last_error_msg());
        }
        $addresses = array_map(static function (array $match) use ($written): array {
            [$found, $start] = $match[2][0] === null ? $match[4] : $match[2];
            return [$start, $start + strlen($found), $written($found, $match[1][0] ?? '')];
        }, $matches);
        $edits = [];
        $next = 0;
        for ($at = 0; $quoted = stead_next_quoted($text, $at); $at = $end + 1) {
            [$start, $end, $meant, $turns] = $quoted;
            if (!stead_looks_serialized($meant) && stead_next_quoted($meant, 0) === null) {
                continue;
            }
            for (; $next < count($addresses) && $addresses[$next][0] < $end; $next++) {
                if ($addresses[$next][0] < $start) {
                    $edits[] = $addresses[$next];
                }
            }
            foreach ($editsOf($meant, $depth + 1) as [$from, $to, $instead]) {
                [$from, $to] = [$start + stead_place_of($turns, $from), $start + stead_place_of($turns, $to)];
                $edits[] = [$from, $to, stead_like_dashes(substr($text, $from, $to - $from), $instead)];
            }
        }
        return [...$edits, ...array_slice($addresses, $next)];
    };
    $editsOf = static function (string $text, int $depth = 0) use (&$editsOf, $input, $name, $inText): array {
        if (!preg_match("~$name~i", $text) || $depth > 32) {
            return [];
        }
        if (strcasecmp($text, $input['from']) === 0) {
            return [[0, strlen($text), $input['to']]];
        }
        if (!stead_looks_serialized($text)) {
            return $inText($text, $depth);
        }
        $at = strspn($text, " \t\n\r\0\x0B");
        $edits = [];
        $inner = static fn (string $value): array => $editsOf($value, $depth + 1);
        // A value that cannot be read stays unchanged: a wrong length would cost its owner the whole value.
        $isRead = stead_serialized_edits($text, $at, $edits, $inner);
        return $isRead && trim(substr($text, $at)) === '' ? $edits : [];
    };
    $rewrite = static fn (string $text): string => stead_edited($text, $editsOf($text));
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
            $like = '%' . str_replace('--', '%', $wpdb->esc_like($host)) . '%';
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
