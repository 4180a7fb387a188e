<?php
// {} → {changed}. Changes the site's addresses from https to http, as all sites store them. Visitors over https still
// get https (prepend.php). Calls update_option.
require '/wordpress/wp-load.php';

return static function (): array {
    $changed = false;
    foreach (['home', 'siteurl'] as $name) {
        $url = (string) get_option($name);
        if (str_starts_with($url, 'https://')) {
            update_option($name, 'http' . substr($url, strlen('https')));
            $changed = true;
        }
    }
    return ['changed' => $changed];
};
