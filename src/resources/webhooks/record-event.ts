import type { Tx } from '../../platform/db/database.ts'

/** Kinds of events that the code writes; webhooks deliver them. */
export type EventType =
  | 'site_created'
  | 'site_deleted'
  | 'site_enabled'
  | 'site_disabled'
  | 'php_version_changed'
  | 'wp_environment_type'
  | 'wp_admin_password_reset'
  | 'collaborator_added'
  | 'collaborator_deleted'
  | 'enabled_edge_cache'
  | 'disabled_edge_cache'
  | 'purged_edge_cache'
  | 'edge_cache_defensive_mode_toggled'
  | 'light_weight_404_changed'
  | 'site_maintenance_mode_toggled'

/** Writes an event in the transaction of what happened, so that none is lost and none is invented. */
export async function recordEvent(
  tx: Tx,
  event: { type: EventType; accountId: number; siteId: number; data: object; now: number },
): Promise<void> {
  await tx
    .insertInto('events')
    .values({
      account_id: event.accountId,
      site_id: event.siteId,
      type: event.type,
      data: JSON.stringify(event.data),
      created_at: event.now,
    })
    .execute()
}
