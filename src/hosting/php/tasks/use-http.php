<?php
// {} → {changed}. Addresses of the site that begin with https begin with http, as those of every site: visitors who come by https get
// https all the same (prepend.php). update_option.
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
