<?php
// {} → {home}. Proves that a copy of a site can keep something, and says which address it takes for its own. Its front page is looked at
// by a request: what plugins and themes do there may end the run, and need not be a page with WordPress' own title.
require '/wordpress/wp-load.php';
require_once __DIR__ . '/check-writes.php';

return static function (): array {
    stead_check_writes();
    return ['home' => home_url()];
};
