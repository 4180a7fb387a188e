<?php
// {} → {version, opcache: {scripts, usedBytes, freeBytes, hitRate} | null}. Does not load WordPress.
return static function (): array {
    $opcache = function_exists('opcache_get_status') ? opcache_get_status(false) : false;
    return [
        'version' => PHP_VERSION,
        'opcache' => $opcache ? [
            'scripts' => $opcache['opcache_statistics']['num_cached_scripts'],
            'usedBytes' => $opcache['memory_usage']['used_memory'],
            'freeBytes' => $opcache['memory_usage']['free_memory'],
            'hitRate' => $opcache['opcache_statistics']['opcache_hit_rate'],
        ] : null,
    ];
};
