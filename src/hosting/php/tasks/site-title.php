<?php
// {} → {title, `home`, siteurl, version}. Calls get_option.
require '/wordpress/wp-load.php';

return static fn (): array => [
    'title' => get_option('blogname'),
    'home' => get_option('home'),
    'siteurl' => get_option('siteurl'),
    'version' => get_bloginfo('version'),
];
