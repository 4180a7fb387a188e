<?php
// {} → {ran, failed: hooks, nextInSeconds | null}. Runs the events that are due, as wp-cron.php does:
// wp_get_ready_cron_jobs, wp_reschedule_event, wp_unschedule_event, do_action_ref_array.
define('DOING_CRON', true);
require '/wordpress/wp-load.php';

return static function (): array {
    $ran = 0;
    $failed = [];
    // Events beget events (a published post: do_pings); another start for them would cost more than all of them.
    for ($round = 0; $round < 3 && ($ready = wp_get_ready_cron_jobs()); $round++) {
        foreach ($ready as $timestamp => $hooks) {
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
    }
    $next = array_key_first(_get_cron_array() ?: []);
    return ['ran' => $ran, 'failed' => $failed, 'nextInSeconds' => $next === null ? null : max(0, $next - time())];
};
