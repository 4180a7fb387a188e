import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../db/database.ts'
import { databaseNow } from './lease.ts'

/** The lease of a running operation, as it was read. */
export interface SeenLease {
  readonly id: number
  readonly attempts: number
  readonly leaseUntil: number
  /** By the database's clock. */
  readonly isOver: boolean
}

/** All that run in a lane. */
export async function runningLeases(tx: Tx, concurrencyClass: RawBuilder<boolean>): Promise<SeenLease[]> {
  const { rows } = await sql<{ id: number; attempts: number; until: number; over: number }>`
    select o.id, o.attempts, o.lease_until as until,
      case when o.lease_until < ${databaseNow(tx)} then 1 else 0 end as over
    from operations o where o.state = 'running' and ${concurrencyClass} order by o.id`.execute(tx)
  return rows.map(({ id, attempts, until, over }) => ({ id, attempts, leaseUntil: until, isOver: over === 1 }))
}

/** Still exactly as it was seen: renewed or taken over it is another. */
export const isAsSeen = ({ id, attempts, leaseUntil }: SeenLease): RawBuilder<boolean> =>
  sql<boolean>`(o.id = ${id} and o.attempts = ${attempts} and o.lease_until = ${leaseUntil})`

export interface LeaseWatch {
  /** @returns those whose worker has died */
  orphansAmong(leases: readonly SeenLease[]): SeenLease[]
}

/**
 * Tells the leases of dead workers from those of living ones, whatever clocks do: a living worker renews its lease four times
 * in the time that it lasts. One that is over by the database's clock, and was not renewed for half its length before the eyes of
 * this process, is dead: the clock may just have been put forward. One that was not renewed for longer than its length is dead too,
 * though it reaches into the future: the clock was set back since.
 * @param monotonic milliseconds of a clock that nobody sets
 */
export function watchLeases(leaseMs: number, monotonic: () => number = () => performance.now()): LeaseWatch {
  let seen = new Map<number, { lease: SeenLease; sinceMs: number }>()
  return {
    orphansAmong(leases) {
      const nowMs = monotonic()
      const before = seen
      seen = new Map()
      return leases.filter((lease) => {
        const known = before.get(lease.id)
        const isSame = known?.lease.attempts === lease.attempts && known.lease.leaseUntil === lease.leaseUntil
        const sinceMs = isSame ? known.sinceMs : nowMs
        seen.set(lease.id, { lease, sinceMs })
        return nowMs - sinceMs >= (lease.isOver ? leaseMs / 2 : leaseMs * 1.25)
      })
    },
  }
}
