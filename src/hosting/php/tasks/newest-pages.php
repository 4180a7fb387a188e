<?php
// {} → {pages}. Returns the paths of the newest published post, page and product, and of the shop's cart. The front
// page is not among them.
require '/wordpress/wp-load.php';

return static function (): array {
    $known = [(int) get_option('page_on_front'), (int) get_option('page_for_posts')];
    $cart = function_exists('wc_get_page_id') ? (int) wc_get_page_id('cart') : (int) get_option('woocommerce_cart_page_id');
    $isCart = $cart > 0 && get_post_status($cart) === 'publish';
    $newest = static function (string $type) use ($known, $cart): int {
        $query = [
            'post_type' => $type,
            'post_status' => 'publish',
            'has_password' => false,
            'numberposts' => 1,
            'orderby' => ['date' => 'DESC', 'ID' => 'DESC'],
            'fields' => 'ids',
            'exclude' => array_filter([...$known, $cart]),
            'suppress_filters' => true,
        ];
        return post_type_exists($type) ? (int) (get_posts($query)[0] ?? 0) : 0;
    };
    $ids = ['post' => $newest('post'), 'page' => $newest('page'), 'product' => $newest('product'), 'cart' => $isCart ? $cart : 0];
    $pages = [];
    foreach (array_filter($ids) as $kind => $id) {
        $parts = wp_parse_url((string) get_permalink($id));
        $path = ($parts['path'] ?? '/') . (isset($parts['query']) ? '?' . $parts['query'] : '');
        // Paths of other characters would not be valid in a request.
        if (preg_match('~^/[\x21-\x7e]{0,499}$~', $path)) {
            $pages[] = ['kind' => $kind, 'path' => $path];
        }
    }
    return ['pages' => $pages];
};
