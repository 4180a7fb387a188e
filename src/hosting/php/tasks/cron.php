<?php
// {} → {ran, failed, nextInSeconds | null, onlyHousekeeping}. Runs the events that are due, as wp-cron.php does:
// wp_get_ready_cron_jobs, wp_reschedule_event, wp_unschedule_event, do_action_ref_array.
define('DOING_CRON', true);
require '/wordpress/wp-load.php';

return static function (): array {
    $housekeeping = [
        'wp_version_check', 'wp_update_plugins', 'wp_update_themes', 'wp_privacy_delete_old_export_files',
        'wp_scheduled_delete', 'wp_scheduled_auto_draft_delete', 'wp_site_health_scheduled_check', 'wp_https_detection',
        'delete_expired_transients', 'recovery_mode_clean_expired_keys', 'wp_update_user_counts',
        'wp_delete_temp_updater_backups', 'wp_maybe_auto_update', 'wp_split_shared_term_batch',
        'wp_update_comment_type_batch', 'update_network_counts',
    ];
    $ran = 0;
    $failed = [];
    foreach (wp_get_ready_cron_jobs() as $timestamp => $hooks) {
        foreach ($hooks as $hook => $events) {
            foreach ($events as $event) {
                if ($event['schedule']) {
                    wp_reschedule_event($timestamp, $event['schedule'], $hook, $event['args'], true);
                }
                wp_unschedule_event($timestamp, $hook, $event['args'], true);
                try {
                    do_action_ref_array($hook, $event['args']);
                    $ran++;
                } catch (Throwable $error) {
                    // One broken plugin must not hold up the others' events.
                    $failed[] = $hook;
                    error_log("cron event $hook: " . $error->getMessage());
                }
            }
        }
    }
    $next = null;
    $onlyHousekeeping = true;
    foreach (_get_cron_array() as $timestamp => $hooks) {
        $next ??= max(0, $timestamp - time());
        $onlyHousekeeping = $onlyHousekeeping && !array_diff(array_keys($hooks), $housekeeping);
    }
    return ['ran' => $ran, 'failed' => $failed, 'nextInSeconds' => $next, 'onlyHousekeeping' => $onlyHousekeeping];
};
