<?php
// {email, reassign: next | oldest, keep: {login, email}} → {deleted, heir}. Calls wp_delete_user for the user with this
// address. Its posts and links go to the next administrator by ID (after the last comes the first), or to the one that
// registered first. Never deletes the kept user, and never deletes without an heir: WordPress would delete the posts
// too.
require '/wordpress/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/user.php';
require_once __DIR__ . '/user-by-email.php';

return static function (array $input): array {
    add_filter('pre_wp_mail', '__return_false');
    $user = stead_user_by_email($input['email']);
    $kept = $input['keep'];
    if (!$user || $user->user_login === $kept['login'] || strtolower($user->user_email) === $kept['email']) {
        return ['deleted' => false, 'heir' => null];
    }
    $heirs = get_users(['role' => 'administrator', 'exclude' => [$user->ID], 'orderby' => 'ID', 'order' => 'ASC']);
    if (!$heirs) {
        throw new RuntimeException('there is no other administrator to take over the posts');
    }
    if ($input['reassign'] === 'oldest') {
        usort($heirs, static fn ($a, $b) => [$a->user_registered, $a->ID] <=> [$b->user_registered, $b->ID]);
        $heir = $heirs[0];
    } else {
        $later = array_filter($heirs, static fn ($each) => $each->ID > $user->ID);
        $heir = $later ? reset($later) : $heirs[0];
    }
    wp_delete_user($user->ID, $heir->ID);
    // On a network, that removed the user from this site only. A user of another site, or of the network's staff, is
    // kept.
    if (is_multisite() && !is_super_admin($user->ID) && !get_blogs_of_user($user->ID)) {
        require_once ABSPATH . 'wp-admin/includes/ms.php';
        wpmu_delete_user($user->ID);
    }
    if (!is_multisite() && stead_user_by_email($input['email'])) {
        throw new RuntimeException('the user is still there');
    }
    return ['deleted' => true, 'heir' => $heir->user_login];
};
