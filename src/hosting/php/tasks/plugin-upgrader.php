<?php
/** WordPress' upgrader, with packages that the host has fetched and unpacked. */
final class Stead_Plugin_Upgrader extends Plugin_Upgrader
{
    /** It is unpacked already: a folder. */
    public function unpack_package($package, $delete_package = true)
    {
        return $package;
    }

    /** As the dashboard's update button, of a release that WordPress need not know of. */
    public function update(string $file, string $source, ?string $version): array
    {
        $offer = static function ($updates) use ($file, $source, $version) {
            $updates = is_object($updates) ? clone $updates : new stdClass();
            $updates->response = (array) ($updates->response ?? []);
            $updates->response[$file] = (object) [
                'id' => $file,
                'slug' => dirname($file) === '.' ? basename($file, '.php') : dirname($file),
                'plugin' => $file,
                'new_version' => (string) $version,
                'package' => $source,
            ];
            return $updates;
        };
        add_filter('site_transient_update_plugins', $offer, PHP_INT_MAX);
        try {
            return (array) $this->bulk_upgrade([$file]);
        } finally {
            remove_filter('site_transient_update_plugins', $offer, PHP_INT_MAX);
        }
    }
}
