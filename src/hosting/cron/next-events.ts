import { HOUR_MS } from '../../platform/durations.ts'

/** When a site's next scheduled events are due, in milliseconds UTC. Null when there are none of that kind. */
export interface NextEvents {
  /** Everything that someone may wait for, such as scheduled posts and plugins' events. */
  readonly urgentAt: number | null
  /** Core's own cleanup. */
  readonly housekeepingAt: number | null
}

/**
 * How long core's housekeeping waits on a site that nobody visits, so that it runs about twice a day and not every
 * hour.
 */
export const HOUSEKEEPING_DELAY_MS = 12 * HOUR_MS

/** Hooks that core schedules for itself. A site that nobody visits has little to clean up. */
const housekeeping: ReadonlySet<string> = new Set([
  'delete_expired_transients',
  'recovery_mode_clean_expired_keys',
  'update_network_counts',
  'wp_delete_temp_updater_backups',
  'wp_https_detection',
  'wp_maybe_auto_update',
  'wp_privacy_delete_old_export_files',
  'wp_scheduled_auto_draft_delete',
  'wp_scheduled_delete',
  'wp_site_health_scheduled_check',
  'wp_split_shared_term_batch',
  'wp_update_comment_type_batch',
  'wp_update_plugins',
  'wp_update_themes',
  'wp_update_user_counts',
  'wp_version_check',
])

/** Returns the earliest event of each kind. */
export function nextEvents(events: Iterable<{ readonly hook: string; readonly at: number }>): NextEvents {
  let urgentAt: number | null = null
  let housekeepingAt: number | null = null
  for (const { hook, at } of events) {
    if (housekeeping.has(hook)) housekeepingAt = Math.min(at, housekeepingAt ?? at)
    else urgentAt = Math.min(at, urgentAt ?? at)
  }
  return { urgentAt, housekeepingAt }
}

/**
 * Returns when a site's events should run. A run takes all that is due, and core then reschedules its housekeeping.
 * Waiting until the oldest is 12 h late therefore means one run in 12 h, and nothing must be remembered across a
 * restart.
 * @param active whether its PHP is running anyway
 * @returns milliseconds UTC, or Infinity for never
 */
export function runAt({ urgentAt, housekeepingAt }: NextEvents, active: boolean): number {
  const delay = active ? 0 : HOUSEKEEPING_DELAY_MS
  return Math.min(urgentAt ?? Infinity, (housekeepingAt ?? Infinity) + delay)
}
