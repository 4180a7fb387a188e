<?php
// {} → {title}. Proves that the site shows its front page and can keep something, in one run: the page with its title, then
// add_option, get_option past the cache, delete_option, and a file in wp-content. A copied database that its user may not write
// answers pages with 200 all the same.
define('WP_USE_THEMES', true);
ob_start();
require '/wordpress/wp-blog-header.php';
$stead_page = (string) ob_get_clean();

return static function () use ($stead_page): array {
    global $wpdb;
    $status = http_response_code();
    if ($status !== 200 || !str_contains($stead_page, '<title>' . wp_get_document_title())) {
        throw new RuntimeException("the front page has status $status" . ($status === 200 ? ' and not its title' : ''));
    }
    $wpdb->suppress_errors();
    $name = 'stead_check_' . bin2hex(random_bytes(6));
    add_option($name, '1', '', false);
    $kept = $wpdb->get_var($wpdb->prepare("SELECT option_value FROM $wpdb->options WHERE option_name = %s", $name));
    delete_option($name);
    if ($kept !== '1') {
        throw new RuntimeException('the database cannot be written: ' . ($wpdb->last_error ?: 'a written row is not there'));
    }
    $probe = WP_CONTENT_DIR . '/' . $name;
    if (@file_put_contents($probe, '1') !== 1 || !@unlink($probe)) {
        throw new RuntimeException('wp-content cannot be written');
    }
    return ['title' => get_option('blogname')];
};
