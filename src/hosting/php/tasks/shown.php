<?php
// What a page shows, as paths by which changes.php names it: WordPress answers with the same content at many addresses (/SLUG/,
// /index.php?feed=rss2, /rss), and nobody could list them all when it changes. Loaded for each page; WordPress' own functions only.

/** @return array<string> paths; every change of a post or comment names the one of the site's front page */
function stead_shown(): array
{
    $home = stead_path(home_url('/'));
    if (defined('REST_REQUEST') && REST_REQUEST) {
        return [$home, $home . 'wp-json/'];
    }
    // a script of a plugin, and what ends before there is a query
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
    // front page, feeds, dates, searches, what several of these have in common, what is not found
    return [$home];
}

/** How many terms a list is about. */
function stead_terms(WP_Query $query): int
{
    $count = 0;
    foreach ((array) ($query->tax_query->queries ?? []) as $each) {
        $count += is_array($each) ? count((array) ($each['terms'] ?? [null, null])) : 0;
    }
    return $count;
}

/** Path of a link of WordPress; of the front page for what is none. */
function stead_path($link): string
{
    $path = is_string($link) ? parse_url($link, PHP_URL_PATH) : null;
    return is_string($path) && $path !== '' ? $path : '/';
}
