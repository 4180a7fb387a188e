<?php
// Describes what a page shows, as paths that changes.php uses. WordPress answers with the same content at many
// addresses (/SLUG/, /index.php?feed=rss2, /rss), and nothing could list them all when it changes. Loaded for each
// page. Uses only WordPress functions.

/** @return array<string> paths; every change of a post or comment names the path of the site's front page */
function stead_shown(): array
{
    $home = stead_path(home_url('/'));
    if (defined('REST_REQUEST') && REST_REQUEST) {
        return [$home, $home . 'wp-json/'];
    }
    // A script of a plugin, or a request that ends before the query is set up.
    if (!did_action('wp')) {
        return [$home];
    }
    global $wp_the_query;
    $object = $wp_the_query->get_queried_object();
    if ($wp_the_query->is_singular() && $object instanceof WP_Post) {
        return [stead_path(get_permalink($object))];
    }
    if ($wp_the_query->is_posts_page && $object instanceof WP_Post) {
        return [$home, stead_path(get_permalink($object))];
    }
    $isOne = !$wp_the_query->is_search && !$wp_the_query->is_date && stead_terms($wp_the_query) + (int) $wp_the_query->is_author === 1;
    if ($isOne && $object instanceof WP_Term) {
        return [stead_path(get_term_link($object))];
    }
    if ($isOne && $object instanceof WP_User) {
        return [stead_path(get_author_posts_url($object->ID))];
    }
    // Front page, feeds, dates, searches, combinations of these, and pages that are not found.
    return [$home];
}

/** Returns the number of terms that a list covers. */
function stead_terms(WP_Query $query): int
{
    $count = 0;
    foreach ((array) ($query->tax_query->queries ?? []) as $each) {
        $count += is_array($each) ? count((array) ($each['terms'] ?? [null, null])) : 0;
    }
    return $count;
}

/** Returns the path of a WordPress link, or the front page's path if the value is not a link. */
function stead_path($link): string
{
    $path = is_string($link) ? parse_url($link, PHP_URL_PATH) : null;
    return is_string($path) && $path !== '' ? $path : '/';
}
