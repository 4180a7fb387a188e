<?php
// {} → {pages}. Calls WC_Install::create_pages, which creates the missing pages of shop, cart, checkout, and account.
// Returns how many of them exist.
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/admin.php';

return static function (): array {
    if (!class_exists('WC_Install') || !function_exists('wc_get_page_id')) {
        throw new RuntimeException('WooCommerce is not active');
    }
    WC_Install::create_pages();
    $names = ['shop', 'cart', 'checkout', 'myaccount'];
    foreach ($names as $name) {
        if (wc_get_page_id($name) <= 0) {
            throw new RuntimeException("WooCommerce did not make its page: $name");
        }
    }
    return ['pages' => count($names)];
};
