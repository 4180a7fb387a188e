<?php
// {} → {title, page}. Proves in one run that the site shows its front page and can store data. Renders the page with
// its title, then does what check-writes.php does. Also returns the page as a request for shared content would get it.
define('WP_USE_THEMES', true);
// Edges send the same headers for every visitor (`fill-headers.ts`).
$_SERVER['HTTP_USER_AGENT'] = 'Mozilla/5.0 (compatible; Stead)';
$_SERVER['HTTP_ACCEPT'] = '*/*';
unset($_SERVER['CONTENT_TYPE'], $_SERVER['HTTP_CONTENT_TYPE'], $_SERVER['CONTENT_LENGTH'], $_SERVER['HTTP_CONTENT_LENGTH']);
$stead_level = ob_get_level();
ob_start();
require '/wordpress/wp-blog-header.php';
// A buffer that is still open means that the page is not complete.
$stead_is_whole = ob_get_level() === $stead_level + 1;
$stead_page = (string) ob_get_clean();
require_once __DIR__ . '/check-writes.php';

/**
 * @return array{headers: array<string>, body: string}|null flat headers, base64 body; null if the page is not shared or
 * too large
 */
function stead_page_for_all(string $page): ?array
{
    $headers = ['X-Stead-Shows', implode(' ', $GLOBALS['stead_shows'] ?? ['/'])];
    foreach (headers_list() as $line) {
        [$name, $value] = array_map('trim', explode(':', $line, 2));
        if (strcasecmp($name, 'Set-Cookie') === 0) {
            return null;
        }
        array_push($headers, $name, $value);
    }
    // A page that is only stored for its first visitor must not make a site fail.
    if (strlen($page) > 512 << 10 || count($headers) > 100 || max(array_map('strlen', $headers)) > 2048) {
        return null;
    }
    $is_private = (defined('DONOTCACHEPAGE') && DONOTCACHEPAGE) || ($GLOBALS['stead_is_personal'] ?? false);
    return $is_private ? null : ['headers' => $headers, 'body' => base64_encode($page)];
}

return static function () use ($stead_page, $stead_is_whole): array {
    $status = http_response_code();
    if ($status !== 200 || !str_contains($stead_page, '<title>' . wp_get_document_title())) {
        throw new RuntimeException("the front page has status $status" . ($status === 200 ? ' and not its title' : ''));
    }
    $page = $stead_is_whole ? stead_page_for_all($stead_page) : null;
    stead_check_writes();
    return ['title' => get_option('blogname'), 'page' => $page];
};
