import type { Database } from '../../db/database.ts'
import type { Log } from '../../log/log.ts'
import type { Execution } from './execution.ts'
import { checkLeases, renewLeases } from './lease.ts'

interface HeartbeatOptions {
  readonly database: Database
  readonly log: Log
  readonly owner: string
  readonly running: ReadonlySet<Execution>
  readonly leaseMs: number
}

export interface WorkerHeartbeat {
  /** Extends the leases of running operations. */
  renew(): Promise<void>
  /** Checks only whether an operation is lost or to be canceled. Runs after each notification. */
  check(): Promise<void>
}

/** Renews the leases of running operations, and notifies executions that are lost or to be canceled. */
export function createHeartbeat({ database, log, owner, running, leaseMs }: HeartbeatOptions): WorkerHeartbeat {
  /** The monotonic time at which the lease was last known to be held. */
  const heldAt = new WeakMap<Execution, number>()
  let busy = false
  let wanted: 'nothing' | 'check' | 'renew' = 'nothing'

  const update = async (renews: boolean): Promise<void> => {
    const executions = [...running]
    if (executions.length === 0) return
    const startedAt = performance.now()
    const leases = executions.map(({ lease }) => lease)
    const found = renews
      ? await database.transaction((tx) => renewLeases(tx, owner, leases, leaseMs))
      : await checkLeases(database.read, owner, leases)
    for (const execution of executions) {
      if (found.lost.includes(execution.lease)) execution.abort('lost')
      else if (renews) heldAt.set(execution, startedAt)
      if (found.canceled.includes(execution.lease)) execution.abort('canceled')
    }
  }

  /** Runs one update at a time. Requests in the meantime cause one more run afterwards. */
  const run = async (what: 'check' | 'renew'): Promise<void> => {
    if (what === 'renew' || wanted === 'nothing') wanted = what
    if (busy) return
    busy = true
    try {
      while (wanted !== 'nothing') {
        const renews = wanted === 'renew'
        wanted = 'nothing'
        await update(renews)
      }
    } catch (error) {
      log.warn({ err: error }, 'could not renew leases of operations')
    } finally {
      busy = false
    }
  }

  /**
   * Aborts executions whose lease has expired, even while the database is unreachable, because others may take them
   * over.
   */
  const loseExpired = (): void => {
    const now = performance.now()
    for (const execution of running) {
      const since = heldAt.get(execution) ?? now
      if (since === now) heldAt.set(execution, now)
      if (now - since > leaseMs) execution.abort('lost')
    }
  }

  return {
    async renew() {
      loseExpired()
      await run('renew')
    },
    check: () => run('check'),
  }
}
