<?php
// {} → {flushed, dropIn}. Calls wp_cache_flush, which a drop-in (wp-content/object-cache.php) replaces with its own.
require '/wordpress/wp-load.php';

return static function (): array {
    $flushed = wp_cache_flush();
    if ($flushed === false) {
        throw new RuntimeException('the object cache refuses to be emptied');
    }
    return ['flushed' => true, 'dropIn' => (bool) wp_using_ext_object_cache()];
};
