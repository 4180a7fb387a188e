<?php
/** WordPress' upgrader, for packages that the host has fetched and unpacked. */
final class Stead_Theme_Upgrader extends Theme_Upgrader
{
    /** Returns the package unchanged: it is an unpacked folder. */
    public function unpack_package($package, $delete_package = true)
    {
        return $package;
    }

    /** Updates as the dashboard's update button does, to a release that WordPress need not know. */
    public function update(string $name, string $source, ?string $version): array
    {
        $offer = static function ($updates) use ($name, $source, $version) {
            $updates = is_object($updates) ? clone $updates : new stdClass();
            $updates->response = (array) ($updates->response ?? []);
            $updates->response[$name] = ['theme' => $name, 'new_version' => (string) $version, 'package' => $source];
            return $updates;
        };
        add_filter('site_transient_update_themes', $offer, PHP_INT_MAX);
        try {
            return (array) $this->bulk_upgrade([$name]);
        } finally {
            remove_filter('site_transient_update_themes', $offer, PHP_INT_MAX);
        }
    }
}
