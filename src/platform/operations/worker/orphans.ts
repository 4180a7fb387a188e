import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../../db/database.ts'
import { databaseNow } from './lease.ts'

/** The lease of a running operation, as it was read. */
export interface SeenLease {
  readonly id: number
  readonly attempts: number
  readonly leaseUntil: number
  /** Whether it has expired by the database's clock. */
  readonly isOver: boolean
}

/** Returns the leases of all running operations in a concurrency class. */
export async function runningLeases(tx: Tx, concurrencyClass: RawBuilder<boolean>): Promise<SeenLease[]> {
  const { rows } = await sql<{ id: number; attempts: number; until: number; over: number }>`
    select o.id, o.attempts, o.lease_until as until,
      case when o.lease_until < ${databaseNow(tx)} then 1 else 0 end as over
    from operations o where o.state = 'running' and ${concurrencyClass} order by o.id`.execute(tx)
  return rows.map(({ id, attempts, until, over }) => ({ id, attempts, leaseUntil: until, isOver: over === 1 }))
}

/** Returns SQL that checks that a lease is unchanged: neither renewed nor taken over. */
export const isAsSeen = ({ id, attempts, leaseUntil }: SeenLease): RawBuilder<boolean> =>
  sql<boolean>`(o.id = ${id} and o.attempts = ${attempts} and o.lease_until = ${leaseUntil})`

export interface LeaseWatch {
  /** @returns the leases whose worker has died */
  orphansAmong(leases: readonly SeenLease[]): SeenLease[]
}

/**
 * Distinguishes the leases of dead workers from those of live ones, however clocks change. A live worker renews its
 * lease four times within its length.
 * A lease is dead if it has expired by the database's clock, and this process has seen no renewal for half its length.
 * The expiry alone proves nothing, because the clock may just have been set forward.
 * A lease that was not renewed for longer than its length is dead too, even if it ends in the future: the clock was set
 * back since.
 * @param monotonic milliseconds of a clock that is never set
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
