<?php
// Not a task. Shared by tasks about users. The database's own comparison may consider different addresses equal (é =
// e), and may or may not ignore case.
function stead_user_by_email(string $email): ?WP_User
{
    global $wpdb;
    $rows = $wpdb->get_results($wpdb->prepare(
        "SELECT ID, user_email FROM $wpdb->users WHERE user_email = %s OR LOWER(user_email) = %s ORDER BY ID",
        $email,
        $email
    ));
    foreach ($rows as $row) {
        if (strtolower($row->user_email) === $email) {
            return new WP_User((int) $row->ID);
        }
    }
    return null;
}
