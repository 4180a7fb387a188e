<?php
// {title} → {networkId, blogId, path, isSubdomainInstall}. Calls install_network and populate_network, as the dashboard
// page "Network Setup" does. An existing network is left unchanged. Stead writes the constants.
define('WP_INSTALLING_NETWORK', true);
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';

return static function (array $input): array {
    global $wpdb, $wp_rewrite;
    // wpdb knows the names of these tables only if a network is already running.
    foreach ($wpdb->tables('ms_global') as $table => $name) {
        $wpdb->$table = $name;
    }
    install_network();
    if (!$wpdb->get_var("SELECT id FROM $wpdb->site LIMIT 1")) {
        $administrators = get_users(['role' => 'administrator', 'number' => 1, 'orderby' => 'ID']);
        if (!$administrators) {
            throw new RuntimeException('the site has no administrator who could own the network');
        }
        wp_set_current_user($administrators[0]->ID);
        $home = parse_url(get_option('home'));
        $domain = $home['host'] . (isset($home['port']) ? ":{$home['port']}" : '');
        // populate_network adds /blog to the addresses of the main site's posts, which would break the links of an
        // existing site.
        $permalinks = get_option('permalink_structure');
        $email = $administrators[0]->user_email;
        $made = populate_network(1, $domain, $email, $input['title'], ($home['path'] ?? '') . '/', false);
        if (is_wp_error($made)) {
            throw new RuntimeException($made->get_error_message());
        }
        $wp_rewrite->set_permalink_structure($permalinks);
        delete_option('rewrite_rules');
    }
    wp_cache_flush();
    $network = $wpdb->get_row("SELECT id, path FROM $wpdb->site ORDER BY id LIMIT 1");
    $meta = $wpdb->get_results(
        $wpdb->prepare("SELECT meta_key, meta_value FROM $wpdb->sitemeta WHERE site_id = %d AND meta_key IN ('subdomain_install', 'main_site')", $network->id),
        OBJECT_K
    );
    return [
        'networkId' => (int) $network->id,
        'blogId' => (int) ($meta['main_site']->meta_value ?? 1),
        'path' => $network->path,
        'isSubdomainInstall' => (bool) ($meta['subdomain_install']->meta_value ?? false),
    ];
};
