<?php
// No task: what tasks about users share. The database's own comparison may take different addresses for the same (é = e), and
// may or may not mind the case.
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
