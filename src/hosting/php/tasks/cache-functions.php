<?php
// Not a task. Defines the documented functions with which other plugins purge the ten most used cache plugins, if none
// of those is installed. Each function purges the site's pages, or a post's pages, from the edge, as `stead_purge`
// does.

(static function (): void {
    $installed = static fn (string $folder): bool => is_dir(WP_PLUGIN_DIR . "/$folder");
    $offer = static function (string $folder, array $names) use ($installed): array {
        return $installed($folder) ? [] : array_filter($names, static fn (string $name): bool => !function_exists($name));
    };
    $all = [
        ...$offer('wp-super-cache', ['wp_cache_clear_cache', 'wp_cache_clean_cache']),
        ...$offer('w3-total-cache', ['w3tc_flush_all', 'w3tc_flush_posts', 'w3tc_pgcache_flush']),
        ...$offer('wp-rocket', ['rocket_clean_domain', 'rocket_clean_files', 'rocket_clean_home']),
        ...$offer('wp-fastest-cache', ['wpfc_clear_all_cache']),
        ...$offer('sg-cachepress', ['sg_cachepress_purge_cache', 'sg_cachepress_purge_everything']),
        ...$offer('wp-optimize', ['wpo_cache_flush']),
        ...$offer('cachify', ['cachify_flush_cache']),
    ];
    $post = [
        ...$offer('wp-super-cache', ['wpsc_delete_post_cache', 'wp_cache_post_change']),
        ...$offer('w3-total-cache', ['w3tc_flush_post', 'w3tc_pgcache_flush_post']),
        ...$offer('wp-rocket', ['rocket_clean_post']),
        ...$offer('wp-fastest-cache', ['wpfc_clear_post_cache_by_id']),
    ];
    foreach ($all as $name) {
        eval("function $name(...\$arguments) { do_action('stead_purge'); return true; }");
    }
    foreach ($post as $name) {
        eval("function $name(\$post = 0, ...\$arguments) { do_action('stead_purge', \$post ?: null); return true; }");
    }
})();
