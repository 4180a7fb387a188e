<?php
// {blog, failures, cutOff} → {ran, failed: hooks, passed: hooks, isMore, blogs, nextInSeconds | null}. Runs the due
// events of one site as wp-cron.php does: wp_get_ready_cron_jobs, wp_reschedule_event, wp_unschedule_event,
// do_action_ref_array. `blog` is a site of the network other than its main one. `blogs` lists those of them with due
// events. An event that fails does not stop the others, and is retried later each time. `failures` counts its failures
// so far, and `cutOff` names the event that the host ended. An event that ends the request does not lose the remaining
// ones: `isMore` reports them.
$stead['input'] += ['blog' => null, 'failures' => [], 'cutOff' => null];
if ($stead['input']['blog']) {
    $stead_path = $stead['input']['blog']['path'] . 'wp-cron.php';
    $_SERVER['HTTP_HOST'] = $stead['input']['blog']['domain'];
    $_SERVER['SERVER_NAME'] = preg_replace('/:\d+$/', '', $_SERVER['HTTP_HOST']);
    $_SERVER['REQUEST_URI'] = "$stead_path?{$_SERVER['QUERY_STRING']}";
    $_SERVER['PHP_SELF'] = $_SERVER['SCRIPT_NAME'] = $stead_path;
}
require '/wordpress/wp-load.php';

const STEAD_LONGEST_PAUSE = 6 * HOUR_IN_SECONDS;
const STEAD_MOST_BLOGS = 200;

/** The results of the events so far. */
$GLOBALS['stead_cron'] = ['ran' => 0, 'failed' => [], 'passed' => [], 'isMore' => false, 'blogs' => []];

/** Delays the next times of an event. The more often it has failed in a row, the longer the delay. */
function stead_put_off(string $hook): void
{
    $times = 1;
    foreach ($GLOBALS['stead']['input']['failures'] as $each) {
        $times += $each['hook'] === $hook ? $each['times'] : 0;
    }
    $earliest = time() + min(STEAD_LONGEST_PAUSE, MINUTE_IN_SECONDS * 2 ** min($times - 1, 20));
    foreach (_get_cron_array() ?: [] as $timestamp => $hooks) {
        foreach ($timestamp < $earliest ? $hooks[$hook] ?? [] : [] as $event) {
            wp_unschedule_event($timestamp, $hook, $event['args'], true);
            if ($event['schedule']) {
                wp_schedule_event($earliest, $event['schedule'], $hook, $event['args']);
            } else {
                wp_schedule_single_event($earliest, $hook, $event['args']);
            }
        }
    }
}

function stead_event_failed(string $hook, string $why): void
{
    error_log("Stead: the scheduled event $hook failed: $why");
    $GLOBALS['stead_cron']['failed'][] = $hook;
    stead_put_off($hook);
}

function stead_run_event(string $hook, array $args): void
{
    $GLOBALS['stead_event'] = $hook;
    // If the host ends PHP, it knows which event was running.
    post_message_to_js((string) json_encode(['event' => $hook], JSON_INVALID_UTF8_SUBSTITUTE));
    try {
        do_action_ref_array($hook, $args);
        $GLOBALS['stead_cron']['passed'][] = $hook;
    } catch (Stead_Ended $end) {
        // wp_die, as work ended in the past when it came through admin-ajax.
        $GLOBALS['stead_cron']['passed'][] = $hook;
    } catch (Throwable $error) {
        stead_event_failed($hook, $error->getMessage());
    }
    $GLOBALS['stead_cron']['ran']++;
    $GLOBALS['stead_event'] = null;
}

/** Returns the result for the host. */
function stead_cron_result(): array
{
    $next = array_key_first(_get_cron_array() ?: []);
    $result = $GLOBALS['stead_cron'];
    $known = array_column($GLOBALS['stead']['input']['failures'], 'hook');
    $result['failed'] = array_slice(array_values(array_unique($result['failed'])), 0, 100);
    $result['passed'] = array_values(array_intersect(array_unique($result['passed']), $known));
    $result['nextInSeconds'] = $next === null ? null : max(0, $next - time());
    return $result;
}

/** Returns the addresses of other sites of the network whose events are due. */
function stead_due_blogs(): array
{
    if (!is_multisite() || !is_main_site() || $GLOBALS['stead']['input']['blog']) {
        return [];
    }
    $due = [];
    $open = ['archived' => 0, 'deleted' => 0, 'spam' => 0, 'number' => STEAD_MOST_BLOGS, 'site__not_in' => [get_current_blog_id()]];
    foreach (get_sites($open) as $blog) {
        switch_to_blog((int) $blog->blog_id);
        if (wp_get_ready_cron_jobs()) {
            $due[] = ['domain' => $blog->domain, 'path' => $blog->path];
        }
        restore_current_blog();
    }
    return $due;
}

return static function (array $input): array {
    if ($input['cutOff'] !== null) {
        stead_put_off($input['cutOff']);
    }
    $GLOBALS['stead_cron']['blogs'] = stead_due_blogs();
    // An event may end the request. With `exit` it has passed, as in WordPress. With an error it has failed.
    $GLOBALS['stead_ended'] = static function (?string $fatal): array {
        $hook = (string) $GLOBALS['stead_event'];
        $GLOBALS['stead_cron']['ran']++;
        if ($fatal === null) {
            $GLOBALS['stead_cron']['passed'][] = $hook;
        } else {
            // The error may have been that the memory ran out.
            ini_set('memory_limit', '-1');
            stead_event_failed($hook, $fatal);
        }
        $GLOBALS['stead_cron']['isMore'] = wp_get_ready_cron_jobs() !== [];
        return stead_cron_result();
    };
    $GLOBALS['stead_ends_by_errors'] = true;
    // Events create events (a published post: do_pings). Another start for those would cost more than all of them.
    for ($round = 0; $round < 3 && ($ready = wp_get_ready_cron_jobs()); $round++) {
        foreach ($ready as $timestamp => $hooks) {
            foreach ($hooks as $hook => $events) {
                foreach ($events as $event) {
                    // Another event has removed it or delayed it.
                    if (!wp_get_scheduled_event($hook, $event['args'], $timestamp)) {
                        continue;
                    }
                    if ($event['schedule']) {
                        wp_reschedule_event($timestamp, $event['schedule'], $hook, $event['args'], true);
                    }
                    wp_unschedule_event($timestamp, $hook, $event['args'], true);
                    stead_run_event((string) $hook, $event['args']);
                }
            }
        }
    }
    unset($GLOBALS['stead_ended']);
    return stead_cron_result();
};
