<?php
// Runs only before the script of a command (WP-CLI). WP-CLI starts programs for some of its work. The sandbox has no
// shell and no programs, so PHP itself does what WP-CLI needs from a few of them. Every other program is "not found",
// as on a server that does not have it. Nothing here can do more than the PHP code that calls it.

final class Stead_Programs
{
    private const NOT_FOUND = 127;
    private const FAILED = 1;
    private const NO_CONNECTION = 255;
    /** The most input that an inner command reads. The message that carries it is bounded. */
    private const MOST_INPUT = 128 << 10;
    /** Characters that a shell acts on outside of quotes. Nothing here acts on them. */
    private const SPECIAL = '|&;<>()$`*?[~#' . "\n\r";

    /** @var array<int, int> Exit codes by the ID of the resource that proc_open() returned. */
    public static array $codes = [];

    /**
     * Runs the command until it ends.
     * @param string|array $command as proc_open() takes it
     * @param resource $in
     * @param resource $out
     * @param resource $err
     */
    public static function run($command, $in, $out, $err): int
    {
        $words = is_array($command) ? array_map('strval', array_values($command)) : self::words((string) $command);
        if ($words === null) {
            fwrite($err, "sh: There is no shell here.\n");
            return self::NOT_FOUND;
        }
        self::skipEnvironment($words);
        if (($words[0] ?? '') === '/usr/bin/env') {
            array_shift($words);
            self::skipEnvironment($words);
        }
        $program = basename($words[0] ?? '');
        $rest = array_slice($words, 1);
        if ($program === 'wp' || ($words[0] ?? '') === PHP_BINARY) {
            return self::wp($program === 'wp' ? $rest : self::argumentsOfWp($rest), $in, $out, $err);
        }
        switch ($program) {
            case 'which':
                $isHere = in_array($rest[0] ?? '', ['mysql', 'mariadb', 'mysqlcheck', 'mariadb-check'], true);
                fwrite($out, $isHere ? "/usr/bin/{$rest[0]}\n" : '');
                return $isHere ? 0 : self::FAILED;
            case 'ssh':
                // ssh exits with this code if it cannot connect, and WP-CLI has a message for it.
                return self::NO_CONNECTION;
            case 'rm':
                return self::rm($rest, $err);
            case 'less':
            case 'more':
            case 'cat':
                return stream_copy_to_stream($in, $out) === false ? self::FAILED : 0;
            case 'mysql':
            case 'mariadb':
            case 'mysqlcheck':
            case 'mariadb-check':
                require_once __DIR__ . '/sql-client.php';
                return (new Stead_Sql_Client($program, $rest))->run($in, $out, $err);
        }
        fwrite($err, "sh: 1: {$program}: not found\n");
        return self::NOT_FOUND;
    }

    /** Returns the words of a line that needs no shell, or null. */
    private static function words(string $line): ?array
    {
        $line = preg_replace('~\s+2>/dev/null\s*$~', '', $line);
        $words = [];
        $word = null;
        for ($at = 0, $length = strlen($line); $at < $length; $at++) {
            $character = $line[$at];
            if ($character === ' ' || $character === "\t") {
                if ($word !== null) {
                    $words[] = $word;
                }
                $word = null;
            } elseif ($character === "'") {
                $end = strpos($line, "'", $at + 1);
                if ($end === false) {
                    return null;
                }
                $word .= substr($line, $at + 1, $end - $at - 1);
                $at = $end;
            } elseif ($character === '"') {
                $word .= '';
                for ($at++; $at < $length && $line[$at] !== '"'; $at++) {
                    if ($line[$at] === '$' || $line[$at] === '`') {
                        return null;
                    }
                    if ($line[$at] === '\\' && strpbrk($line[$at + 1] ?? ' ', '$`"\\') !== false) {
                        $at++;
                    }
                    $word .= $line[$at];
                }
                if ($at >= $length) {
                    return null;
                }
            } elseif ($character === '\\') {
                $word .= $line[++$at] ?? '\\';
            } elseif (strpos(self::SPECIAL, $character) !== false) {
                return null;
            } else {
                $word .= $character;
            }
        }
        if ($word !== null) {
            $words[] = $word;
        }
        return $words;
    }

    /** Removes leading `NAME=value` words. A started command has the same environment as every command. */
    private static function skipEnvironment(array &$words): void
    {
        while (preg_match('~^[A-Za-z_][A-Za-z0-9_]*=~', $words[0] ?? '')) {
            array_shift($words);
        }
    }

    /** Returns the words after the path of WP-CLI, or null if the command is not WP-CLI. */
    private static function argumentsOfWp(array $words): ?array
    {
        $script = array_shift($words);
        $own = realpath($_SERVER['argv'][0] ?? '');
        return $script !== null && $own !== false && realpath($script) === $own ? $words : null;
    }

    /**
     * Runs a command that a command starts. The host runs it in a separate process. It gets the standard input if one
     * of its words is `-`, which says that it reads it. All others get none: they would wait forever for input that
     * never ends.
     */
    private static function wp(?array $words, $in, $out, $err): int
    {
        if ($words === null) {
            fwrite($err, "Error: PHP runs WP-CLI here, and neither a server nor another script.\n");
            return self::FAILED;
        }
        $input = in_array('-', $words, true) ? (string) stream_get_contents($in, self::MOST_INPUT + 1) : '';
        if (strlen($input) > self::MOST_INPUT) {
            fwrite($err, 'Error: A command that a command starts can read at most ' . (self::MOST_INPUT >> 10) . " kB. Run it directly instead.\n");
            return self::FAILED;
        }
        $shows = $out === STDOUT && $err === STDERR;
        $question = ['ask' => 'command', 'words' => base64_encode(implode("\0", $words)), 'shows' => $shows, 'input' => base64_encode($input)];
        $answer = json_decode(post_message_to_js((string) json_encode($question, JSON_UNESCAPED_SLASHES)), true);
        if (!is_array($answer)) {
            fwrite($err, "Error: The command could not be started.\n");
            return self::FAILED;
        }
        fwrite($out, (string) base64_decode($answer['output'] ?? ''));
        fwrite($err, (string) base64_decode($answer['errors'] ?? ''));
        return (int) ($answer['code'] ?? self::FAILED);
    }

    private static function rm(array $words, $err): int
    {
        $options = '';
        while (preg_match('~^-[rRf]+$~', $words[0] ?? '')) {
            $options .= array_shift($words);
        }
        if (($words[0] ?? '') === '--') {
            array_shift($words);
        }
        $code = 0;
        foreach ($words as $path) {
            clearstatcache();
            if ($path === '' || (!file_exists($path) && !is_link($path))) {
                if (strpbrk($options, 'f') === false) {
                    fwrite($err, "rm: cannot remove '$path': No such file or directory\n");
                    $code = self::FAILED;
                }
            } elseif (is_dir($path) && !is_link($path) && strpbrk($options, 'rR') === false) {
                fwrite($err, "rm: cannot remove '$path': Is a directory\n");
                $code = self::FAILED;
            } elseif (!self::remove($path)) {
                fwrite($err, "rm: cannot remove '$path': Operation not permitted\n");
                $code = self::FAILED;
            }
        }
        return $code;
    }

    /** Removes links without following them. */
    private static function remove(string $path): bool
    {
        if (is_link($path) || !is_dir($path)) {
            return @unlink($path);
        }
        $names = array_diff(@scandir($path) ?: [], ['.', '..']);
        $isEmpty = true;
        foreach ($names as $name) {
            $isEmpty = self::remove("$path/$name") && $isEmpty;
        }
        return @rmdir($path) && $isEmpty;
    }
}

if (!function_exists('proc_open')) {
    /**
     * Runs the program to its end before it returns. It does not read what is written to its standard input through a
     * pipe.
     * @return resource|false
     */
    function proc_open($command, array $descriptor_spec, &$pipes, ?string $cwd = null, ?array $env_vars = null, ?array $options = null)
    {
        $pipes = [];
        $ends = [];
        foreach ([0, 1, 2] as $number) {
            $spec = $descriptor_spec[$number] ?? null;
            if (is_resource($spec)) {
                $ends[] = $spec;
            } elseif (is_array($spec) && $spec[0] === 'file') {
                $ends[] = fopen($spec[1], $spec[2]);
            } else {
                $ends[] = fopen('php://temp', 'r+b');
                if (is_array($spec) && $spec[0] === 'pipe') {
                    $pipes[$number] = $ends[$number];
                }
            }
            if (!$ends[$number]) {
                return false;
            }
        }
        $code = Stead_Programs::run($command, ...$ends);
        foreach ($pipes as $number => $pipe) {
            if ($number > 0) {
                rewind($pipe);
            }
        }
        $process = fopen('php://memory', 'rb');
        Stead_Programs::$codes[get_resource_id($process)] = $code;
        return $process;
    }

    function proc_close($process): int
    {
        $code = Stead_Programs::$codes[get_resource_id($process)] ?? -1;
        unset(Stead_Programs::$codes[get_resource_id($process)]);
        fclose($process);
        return $code;
    }

    function proc_get_status($process): array
    {
        $code = Stead_Programs::$codes[get_resource_id($process)] ?? -1;
        return ['command' => '', 'pid' => 0, 'running' => false, 'signaled' => false, 'stopped' => false, 'exitcode' => $code, 'termsig' => 0, 'stopsig' => 0];
    }

    function proc_terminate($process, int $signal = 15): bool
    {
        return true;
    }

    function passthru(string $command, &$result_code = null): ?bool
    {
        $result_code = Stead_Programs::run($command, fopen('php://memory', 'rb'), STDOUT, STDERR);
        return null;
    }
}

// WP-CLI adds a constant before this line, which every wp-config.php of WordPress has. Files that Stead wrote in the
// past lack it.
if (array_slice(array_values(preg_grep('~^[-@]~', array_slice($_SERVER['argv'] ?? [], 1), PREG_GREP_INVERT)), 0, 2) === ['config', 'set']) {
    $stead_config = (string) @file_get_contents('/wordpress/wp-config.php');
    $stead_before = "if (!defined('ABSPATH')) {\n    define('ABSPATH', __DIR__ . '/');\n}\n";
    if (!str_contains($stead_config, "/* That's all, stop editing!") && substr_count($stead_config, $stead_before) === 1) {
        $stead_config = str_replace($stead_before, "/* That's all, stop editing! Happy publishing. */\n$stead_before", $stead_config);
        file_put_contents('/wordpress/wp-config.php', $stead_config, LOCK_EX);
    }
    unset($stead_config, $stead_before);
}
