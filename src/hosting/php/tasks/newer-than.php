<?php
// {since, most} → {counts, newest}. Returns what in a site's database is newer than a moment (UTC): posts by type,
// comments, users, and orders; for a network, those of all its sites. Uses SELECT only. Runs without plugins and theme,
// because broken sites are the ones to restore.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';

return static function (array $input): array {
    global $wpdb;
    $wpdb->suppress_errors();
    $since = $input['since'];
    // Type (a column or a word), ID, title, created, changed, condition.
    $columns = [
        // Each order that has separate tables also has a post that only reserves the number.
        'posts' => ['post_type', 'ID', 'post_title', 'post_date_gmt', 'post_modified_gmt', "(post_status NOT IN ('auto-draft', 'inherit', 'wc-checkout-draft') OR post_type = 'attachment') AND post_type <> 'shop_order_placehold'"],
        'comments' => ["'comment'", 'comment_ID', 'comment_author', 'comment_date_gmt', null, '1 = 1'],
        'users' => ["'user'", 'ID', 'user_login', 'user_registered', null, '1 = 1'],
        // WooCommerce orders with separate tables. Older shops store orders as posts. A cart at the checkout is not an
        // order yet.
        'wc_orders' => ['type', 'id', 'billing_email', 'date_created_gmt', 'date_updated_gmt', "status NOT IN ('auto-draft', 'wc-checkout-draft')"],
    ];
    // Tables by name, including those of a network that is switched off now, because a restore replaces them all.
    $ofSites = '~^' . preg_quote($wpdb->base_prefix, '~') . '(?:\d+_)?(posts|comments|users|wc_orders)$~D';
    $sources = [];
    foreach ($wpdb->get_col('SHOW TABLES') as $table) {
        if (preg_match($ofSites, $table, $match)) {
            $sources[] = [$table, ...$columns[$match[1]]];
        }
    }
    $counts = [];
    $newest = [];
    foreach ($sources as [$table, $kind, $id, $title, $created, $changed, $condition]) {
        // Drafts have no date in UTC until they are published.
        $date = $changed === null ? $created : "CASE WHEN $created > '1970-01-01 00:00:00' THEN $created ELSE $changed END";
        $isNew = $wpdb->prepare("$date > %s", $since);
        $isChanged = $changed === null ? '1 = 0' : $wpdb->prepare("NOT ($date > %s) AND $changed > %s", $since, $since);
        $rows = $wpdb->get_results(
            "SELECT $kind AS kind, SUM(CASE WHEN $isNew THEN 1 ELSE 0 END) AS fresh, SUM(CASE WHEN $isChanged THEN 1 ELSE 0 END) AS changed
            FROM `$table` WHERE ($condition) AND (($isNew) OR ($isChanged)) GROUP BY $kind ORDER BY $kind LIMIT 200"
        );
        foreach ($rows ?: [] as $row) {
            $counts[] = ['table' => $table, 'kind' => mb_substr((string) $row->kind, 0, 100), 'new' => (int) $row->fresh, 'changed' => (int) $row->changed];
        }
        $rows = $wpdb->get_results(
            "SELECT $kind AS kind, $id AS id, $title AS title, $date AS at FROM `$table` WHERE ($condition) AND ($isNew)
            ORDER BY at DESC, $id DESC LIMIT " . (int) $input['most']
        );
        foreach ($rows ?: [] as $row) {
            $newest[] = [
                'table' => $table,
                'kind' => mb_substr((string) $row->kind, 0, 100),
                'id' => (int) $row->id,
                'title' => mb_substr((string) $row->title, 0, 200),
                'at' => (string) $row->at,
            ];
        }
        // For a network of thousands of sites, this keeps no more than is shown.
        usort($newest, static fn (array $a, array $b): int => strcmp($b['at'], $a['at']));
        $newest = array_slice($newest, 0, (int) $input['most']);
    }
    usort($counts, static fn (array $a, array $b): int => $b['new'] + $b['changed'] <=> $a['new'] + $a['changed']);
    return ['counts' => array_slice($counts, 0, 1000), 'newest' => $newest];
};
