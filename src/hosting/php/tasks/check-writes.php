<?php
// Proves that the site can store data: add_option, get_option past the cache, delete_option, and a file in wp-content.
// A copied database that its user cannot write still answers pages with 200.
function stead_check_writes(): void
{
    global $wpdb;
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
}
