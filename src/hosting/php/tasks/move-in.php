<?php
// {} → {}. Prepares a warm process that takes over a site. wp-config.php was replaced, possibly with the same mtime as
// before. opcache would then take it for the same file. Does not load WordPress. Resetting all of opcache would cost a
// page of 540 ms.
return static function (): array {
    clearstatcache(true);
    if (function_exists('opcache_invalidate')) {
        opcache_invalidate('/wordpress/wp-config.php', true);
    }
    // The object cache belongs to another site's database.
    stead_drop_object_cache();
    return [];
};
