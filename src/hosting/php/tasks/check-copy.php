<?php
// {} → {home}. Proves that a copy of a site can store data, and returns which address it considers its own. A separate
// request checks its front page. There, plugins and themes may end the run, and the title need not come from WordPress.
require '/wordpress/wp-load.php';
require_once __DIR__ . '/check-writes.php';

return static function (): array {
    stead_check_writes();
    return ['home' => home_url()];
};
