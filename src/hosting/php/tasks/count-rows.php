<?php
// {most} → {tables}. Returns the tables of a site's database with the number of their rows, in order of name. Uses
// SELECT only. Runs without plugins and theme, because their PHP is not needed.
require_once __DIR__ . '/safe-mode.php';
require '/wordpress/wp-load.php';

return static function (array $input): array {
    global $wpdb;
    $wpdb->suppress_errors();
    $names = array_filter(
        $wpdb->get_col('SHOW TABLES'),
        static fn (string $name): bool => str_starts_with($name, $wpdb->base_prefix) && preg_match('~^[^`\x00-\x1f]{1,200}$~D', $name) === 1
    );
    sort($names, SORT_STRING);
    $tables = [];
    foreach (array_slice($names, 0, (int) $input['most']) as $name) {
        $rows = $wpdb->get_var("SELECT COUNT(*) FROM `$name`");
        // A view may be broken.
        if ($rows !== null) {
            $tables[] = ['table' => $name, 'rows' => (int) $rows];
        }
    }
    return ['tables' => $tables];
};
