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
  /** Moves the leases of what is running on. */
  renew(): Promise<void>
  /** Looks only whether something is lost or to be canceled: after each notice. */
  check(): Promise<void>
}

/** Keeps the leases of what is running, and tells executions that they are lost or to be canceled. */
export function createHeartbeat({ database, log, owner, running, leaseMs }: HeartbeatOptions): WorkerHeartbeat {
  /** By the monotonic clock: when the lease was last known to be held. */
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

  /** One at a time; whatever is asked for meanwhile is done once, afterwards. */
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

  /** Nobody may go on with what others have the right to take over, though the database cannot be asked. */
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
