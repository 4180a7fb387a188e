<?php
// {} → {}. A warm process takes a site over: wp-config.php has been replaced and may have the mtime that it had before, which
// opcache would take for the same file. Does not load WordPress. Resetting all of opcache would cost a page of 540 ms.
return static function (): array {
    clearstatcache(true);
    if (function_exists('opcache_invalidate')) {
        opcache_invalidate('/wordpress/wp-config.php', true);
    }
    // it knows another site's database
    stead_drop_object_cache();
    return [];
};
