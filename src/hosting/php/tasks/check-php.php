<?php
// {} → {fault: {message, line} | null}. Returns PHP's own message about what is wrong with /tmp/check.php. Does not run
// the file, and does not load WordPress.
return static function (): array {
    $file = '/tmp/check.php';
    $fault = static fn (string $message, int $line): array => ['fault' => [
        'message' => mb_substr(str_replace($file, 'the file', $message), 0, 500),
        'line' => $line,
    ]];
    try {
        token_get_all(file_get_contents($file), TOKEN_PARSE);
    } catch (ParseError $error) {
        return $fault($error->getMessage(), $error->getLine());
    }
    // Errors that the compiler finds and the parser does not are printed, and not available in any other way.
    error_reporting(E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR);
    ini_set('display_errors', '1');
    ob_start();
    $isCompiled = @opcache_compile_file($file);
    $printed = trim((string) ob_get_clean());
    if ($isCompiled) {
        return ['fault' => null];
    }
    return preg_match('~^(?:PHP )?(?:Fatal|Parse) error: +(.*) in ' . preg_quote($file, '~') . ' on line (\d+)$~sm', $printed, $said)
        ? $fault($said[1], (int) $said[2])
        : $fault('it does not compile', 0);
};
