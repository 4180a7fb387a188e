<?php
// {} → {title}. Proves that the site shows its front page and can keep something, in one run: the page with its title, then
// what check-writes.php does.
define('WP_USE_THEMES', true);
ob_start();
require '/wordpress/wp-blog-header.php';
$stead_page = (string) ob_get_clean();
require_once __DIR__ . '/check-writes.php';

return static function () use ($stead_page): array {
    $status = http_response_code();
    if ($status !== 200 || !str_contains($stead_page, '<title>' . wp_get_document_title())) {
        throw new RuntimeException("the front page has status $status" . ($status === 200 ? ' and not its title' : ''));
    }
    stead_check_writes();
    return ['title' => get_option('blogname')];
};
