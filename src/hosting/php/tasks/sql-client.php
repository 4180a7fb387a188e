<?php
// Does what `mysql` and `mysqlcheck` do for WP-CLI (`wp db query`, `check`, `optimize`, `repair`, `reset`, `cli`). It
// uses the site's own connection to its database, so it works the same on MariaDB and on an SQLite file.

final class Stead_Sql_Client
{
    private const CHECKS = ['check' => 'CHECK', 'optimize' => 'OPTIMIZE', 'repair' => 'REPAIR', 'analyze' => 'ANALYZE'];

    private string $program;
    /** @var array<string, string|true> */
    private array $options = [];
    /** @var string[] */
    private array $words = [];
    private int $affected = 0;

    public function __construct(string $program, array $words)
    {
        $this->program = $program;
        foreach ($words as $word) {
            if (preg_match('~^--([a-z-]+)(?:=(.*))?$~s', $word, $match)) {
                $this->options[$match[1]] = $match[2] ?? true;
            } elseif ($word === '-N' || $word === '-B' || $word === '-s') {
                $this->options[['-N' => 'skip-column-names', '-B' => 'batch', '-s' => 'silent'][$word]] = true;
            } else {
                $this->words[] = $word;
            }
        }
    }

    public function run($in, $out, $err): int
    {
        if (isset($this->options['version'])) {
            fwrite($out, "{$this->program}  Stead's own, for MariaDB and SQLite\n");
            return 0;
        }
        if (!$this->connect()) {
            fwrite($err, "ERROR 2002 (HY000): There is no database of a site here\n");
            return 1;
        }
        if (str_ends_with($this->program, 'check')) {
            return $this->check($out, $err);
        }
        $text = $this->options['execute'] ?? null;
        $statements = self::statements(is_string($text) ? $text : (string) stream_get_contents($in));
        foreach ($statements as $statement) {
            $error = $this->statement($statement, $out);
            if ($error !== null) {
                fwrite($err, "--------------\n$statement\n--------------\n\n$error\n");
                if (!isset($this->options['force'])) {
                    return 1;
                }
            }
        }
        return 0;
    }

    /** Loads as much of WordPress as its connection needs, if the command has not loaded it. */
    private function connect(): bool
    {
        global $wpdb, $table_prefix;
        if ($wpdb) {
            return true;
        }
        if (!is_file('/wordpress/wp-load.php') || !is_file('/wordpress/wp-config.php')) {
            return false;
        }
        $level = error_reporting();
        // WP-CLI has already read wp-config.php, which defined its constants.
        set_error_handler(static fn () => true);
        defined('SHORTINIT') || define('SHORTINIT', true);
        try {
            require_once '/wordpress/wp-config.php';
        } finally {
            restore_error_handler();
            error_reporting($level);
        }
        if ($wpdb) {
            $wpdb->hide_errors();
            $wpdb->suppress_errors();
        }
        return (bool) $wpdb;
    }

    /** Splits a text at its semicolons, except those in quotes and comments. */
    private static function statements(string $text): array
    {
        $pattern = '~\G(?:\'(?:[^\'\\\\]|\\\\.)*+\'|"(?:[^"\\\\]|\\\\.)*+"|`[^`]*+`|/\*.*?\*/|(?:--(?=[ \t\r\n])|\#)[^\n]*+|[^;])~s';
        $statements = [];
        $statement = '';
        for ($at = 0, $length = strlen($text); $at < $length;) {
            if ($text[$at] === ';') {
                $statements[] = trim($statement);
                $statement = '';
                $at++;
            } elseif (preg_match($pattern, $text, $match, 0, $at)) {
                $statement .= $match[0];
                $at += strlen($match[0]);
            } else {
                break;
            }
        }
        $statements[] = trim($statement);
        return array_values(array_filter($statements, static fn ($each) => $each !== ''));
    }

    /** @return string|null what is wrong */
    private function statement(string $sql, $out): ?string
    {
        // The host creates databases, so only the contents are dropped.
        if (preg_match('~^DROP\s+DATABASE\b~i', $sql)) {
            return $this->dropTables();
        }
        if (preg_match('~^(CREATE\s+DATABASE|USE)\b~i', $sql)) {
            return null;
        }
        if (preg_match('~^SELECT\s+ROW_COUNT\(\)$~i', $sql)) {
            $this->show(['ROW_COUNT()'], [[$this->affected]], $out);
            return null;
        }
        [$error, $names, $rows] = $this->ask($sql);
        if ($error === null && $names) {
            $this->show($names, $rows, $out);
        }
        return $error;
    }

    /** @return array{?string, string[], array<array<mixed>>} what is wrong, names of columns, rows */
    private function ask(string $sql): array
    {
        global $wpdb;
        if ($wpdb->dbh instanceof mysqli) {
            mysqli_report(MYSQLI_REPORT_OFF);
            $result = mysqli_query($wpdb->dbh, $sql);
            if ($result === false) {
                $error = sprintf('ERROR %d (%s) at line 1: %s', mysqli_errno($wpdb->dbh), mysqli_sqlstate($wpdb->dbh), mysqli_error($wpdb->dbh));
                return [$error, [], []];
            }
            $this->affected = (int) mysqli_affected_rows($wpdb->dbh);
            if ($result === true) {
                return [null, [], []];
            }
            return [null, array_column($result->fetch_fields(), 'name'), $result->fetch_all(MYSQLI_NUM)];
        }
        if (preg_match('~^SELECT\s+@@SESSION\.sql_mode$|^SET\s~i', $sql)) {
            return [null, [], []];
        }
        $affected = $wpdb->query($sql);
        if ($affected === false) {
            return ['ERROR 1064 (42000) at line 1: ' . trim(strip_tags($wpdb->last_error)), [], []];
        }
        $this->affected = (int) $wpdb->rows_affected;
        if (!preg_match('~^\(?\s*(SELECT|SHOW|DESC|DESCRIBE|EXPLAIN|WITH|CHECK|OPTIMIZE|REPAIR|ANALYZE)\b~i', $sql)) {
            return [null, [], []];
        }
        $rows = array_map(static fn ($row) => (array) $row, $wpdb->last_result ?: []);
        return [null, $rows ? array_keys($rows[0]) : [], array_map('array_values', $rows)];
    }

    private function show(array $names, array $rows, $out): void
    {
        if ($rows === []) {
            return;
        }
        if (!isset($this->options['skip-column-names'])) {
            array_unshift($rows, $names);
        }
        foreach ($rows as $row) {
            $cells = array_map(static fn ($cell) => $cell === null ? 'NULL' : strtr((string) $cell, ["\\" => "\\\\", "\n" => "\\n", "\t" => "\\t", "\0" => "\\0"]), $row);
            fwrite($out, implode("\t", $cells) . "\n");
        }
    }

    /** @return string[] */
    private function tables(): array
    {
        [, , $rows] = $this->ask("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'");
        $rows = $rows ?: $this->ask('SHOW TABLES')[2];
        $names = array_map(static fn ($row) => (string) $row[0], $rows);
        return array_values(array_filter($names, static fn ($name) => !str_starts_with($name, '_wp_sqlite_')));
    }

    private function dropTables(): ?string
    {
        foreach ($this->tables() as $table) {
            [$error] = $this->ask('DROP TABLE `' . str_replace('`', '``', $table) . '`');
            if ($error !== null) {
                return $error;
            }
        }
        return null;
    }

    private function check($out, $err): int
    {
        $verb = current(array_intersect_key(self::CHECKS, $this->options)) ?: 'CHECK';
        $only = isset($this->options['tables']) ? array_slice($this->words, 1) : [];
        $tables = $only ?: array_slice($this->words, 1) ?: $this->tables();
        foreach ($tables as $table) {
            [$error, $names, $rows] = $this->ask("$verb TABLE `" . str_replace('`', '``', $table) . '`');
            if ($error !== null) {
                fwrite($err, "$error\n");
                return 1;
            }
            $this->showCheck(DB_NAME . ".$table", $names, $rows, $out);
        }
        return 0;
    }

    private function showCheck(string $table, array $names, array $rows, $out): void
    {
        $said = array_map(static fn ($row) => array_combine(array_map('strtolower', $names), $row), $rows);
        if (count($said) === 1 && ($said[0]['msg_text'] ?? '') === 'OK') {
            fwrite($out, sprintf("%-50s OK\n", $table));
            return;
        }
        fwrite($out, "$table\n");
        foreach ($said as $each) {
            fwrite($out, sprintf("%-8s : %s\n", $each['msg_type'] ?? '', $each['msg_text'] ?? ''));
        }
    }
}
