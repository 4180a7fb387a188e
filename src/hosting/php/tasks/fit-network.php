<?php
// {address, isCopy, others} → {moved}. Changes the tables of a network, which may come from another site or an older
// state, to this address. The network and its main blog get the address. In a copy, each blog with a separate domain
// becomes a folder of the address, and its links are rewritten, because the domain belongs to the original. `others`
// are other addresses that lead to a network. A second run changes nothing. WordPress would not even load as a network,
// because its constants may differ from its tables. Plugins of a network would fail without one, so none is loaded.
define('MULTISITE', false);
require_once __DIR__ . '/safe-mode.php';
set_error_handler(static fn (int $level, string $message): bool => str_contains($message, 'MULTISITE already defined'), E_WARNING);
require '/wordpress/wp-load.php';
restore_error_handler();
$stead_replace = require __DIR__ . '/replace-address.php';

/** Returns a free folder of the network. */
function stead_folder_of(string $domain, array $taken): string
{
    $label = preg_replace('/[^a-z0-9]/', '', explode('.', preg_replace('/^www\./', '', strtolower($domain)))[0]);
    $folder = $label === '' ? 'blog' : $label;
    for ($number = 2; isset($taken["/$folder/"]); $number++) {
        $folder = ($label === '' ? 'blog' : $label) . $number;
    }
    return $folder;
}

return static function (array $input) use ($stead_replace): array {
    global $wpdb;
    ['address' => $address, 'isCopy' => $isCopy, 'others' => $others] = $input;
    [$sites, $blogs, $meta] = array_map(static fn ($name) => $wpdb->base_prefix . $name, ['site', 'blogs', 'sitemeta']);
    $replace = static function (string $from, string $to) use ($stead_replace): void {
        if (strcasecmp($from, $to) !== 0) {
            $stead_replace(['from' => $from, 'to' => $to]);
        }
    };
    $wpdb->suppress_errors();
    $network = $wpdb->get_row("SELECT id, domain, path FROM `$sites` ORDER BY id LIMIT 1");
    if (!$network) {
        return ['moved' => 0];
    }
    $wpdb->suppress_errors(false);
    $main = (int) $wpdb->get_var($wpdb->prepare("SELECT meta_value FROM `$meta` WHERE site_id = %d AND meta_key = 'main_site'", $network->id));
    $main = $main ?: (int) $wpdb->get_var($wpdb->prepare("SELECT MIN(blog_id) FROM `$blogs` WHERE site_id = %d", $network->id));
    $of = static fn () => $wpdb->get_results($wpdb->prepare("SELECT blog_id, domain, path FROM `$blogs` WHERE site_id = %d ORDER BY blog_id", $network->id));
    $isOfNetwork = static fn ($blog) => in_array(strtolower($blog->domain), [strtolower($network->domain), strtolower($address)], true);

    // The folder is written into the links first. A repeated run recognizes the blog by that.
    $taken = array_fill_keys(array_map(static fn ($blog) => $blog->path, array_filter($of(), $isOfNetwork)), true);
    foreach ($isCopy ? $of() : [] as $blog) {
        if ((int) $blog->blog_id === $main || str_contains($blog->domain, '/') || $isOfNetwork($blog)) {
            continue;
        }
        $folder = stead_folder_of($blog->domain, $taken);
        $taken["/$folder/"] = true;
        $replace($blog->domain, "$address/$folder");
    }
    foreach ([$network->domain, ...$others] as $other) {
        $replace($other, $address);
    }
    $moved = 0;
    foreach ($of() as $blog) {
        if (!str_contains($blog->domain, '/')) {
            continue;
        }
        $path = '/' . explode('/', $blog->domain, 2)[1] . $blog->path;
        $wpdb->update($blogs, ['domain' => $address, 'path' => $path], ['blog_id' => $blog->blog_id]);
        $moved++;
    }
    $wpdb->update($sites, ['domain' => $address], ['id' => $network->id]);
    $wpdb->update($blogs, ['domain' => $address, 'path' => $network->path], ['blog_id' => $main]);
    if ($moved > 0) {
        $wpdb->update($meta, ['meta_value' => '0'], ['site_id' => $network->id, 'meta_key' => 'subdomain_install']);
    }
    wp_cache_flush();
    return ['moved' => $moved];
};
