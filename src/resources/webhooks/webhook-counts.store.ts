import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'

export interface WebhookCounts {
  /** Enabled, and the last attempt succeeded, or there was none. */
  readonly well: number
  /** Enabled, and nothing has arrived lately. */
  readonly failing: number
  readonly disabled: number
  /** Deliveries that are due. */
  readonly due: number
  /** How long the oldest of them has been due. */
  readonly oldestSeconds: number
}

/**
 * Returns the state of all webhooks.
 * @param now by the clock of the database
 */
export async function webhookCounts(tx: Tx, now: number): Promise<WebhookCounts> {
  const { rows: states } = await sql<{ state: 'well' | 'failing' | 'disabled'; count: number }>`
    select state, count(*) as count from (
      select case when enabled = 0 then 'disabled' when failing_since is null then 'well' else 'failing' end as state
      from webhooks) as each group by state`.execute(tx)
  const due = await tx
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhooks as w', 'w.id', 'd.webhook_id')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min('d.due_at').as('first')])
    .where('d.due_at', '<=', now)
    .where(({ or, eb }) => or([eb('w.enabled', '=', 1), eb('d.line', 'is', null)]))
    .executeTakeFirstOrThrow()
  const of = (state: string) => Number(states.find((each) => each.state === state)?.count ?? 0)
  return {
    well: of('well'),
    failing: of('failing'),
    disabled: of('disabled'),
    due: Number(due.count),
    oldestSeconds: due.first === null ? 0 : Math.max(0, (now - Number(due.first)) / 1000),
  }
}
