<?php
/** WordPress' upgrader, for packages that the host has fetched and unpacked. */
final class Stead_Plugin_Upgrader extends Plugin_Upgrader
{
    /** Returns the package unchanged: it is an unpacked folder. */
    public function unpack_package($package, $delete_package = true)
    {
        return $package;
    }

    /** Updates as the dashboard's update button does, to a release that WordPress need not know. */
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
