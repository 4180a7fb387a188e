import { hostState, isNewestStart, reportHost } from '../../hosting/host.store.ts'
import { isUsable } from '../../hosting/host-state.ts'
import { fenced, givenUp } from '../../hosting/identity/faults.ts'
import type { OperatorError } from '../../platform/operator-error.ts'
import type { ProcessContext, RunningRole } from '../process-context.ts'

const EVERY_MS = 2000

/** The start of a host that reports. */
export interface Reporter {
  readonly hostId: number
  readonly epoch: number
  readonly name: string
  /** Returns the facts that the host reports at this moment. */
  readonly facts: () => object
  /** Receives the same report before it is recorded. On a full disk, nothing may be recordable. */
  readonly say?: ((report: HostReport) => void) | undefined
  /** Called before the fault is known, when the host must not serve its sites any longer. */
  readonly onRefused?: (() => Promise<void>) | undefined
}

/** The report of a host. */
export interface HostReport {
  readonly name: string
  readonly facts: object
  /** Why its last report could not be recorded. */
  readonly fault?: string | undefined
}

export interface Reports extends RunningRole {
  /** Resolves when the host was started elsewhere since. */
  readonly fault: Promise<OperatorError>
  /** Reports immediately, for an event that others need to know. */
  report(): Promise<void>
  stop(): Promise<void>
}

/** Reports that the host is alive, with its facts. Resolves when the first report is written. */
export async function startReports({ database, log }: ProcessContext, reporter: Reporter): Promise<Reports> {
  const fault = Promise.withResolvers<OperatorError>()
  const reasonOf = async () => {
    const state = await hostState(database.read, reporter.hostId)
    return state === undefined || isUsable(state) ? fenced(reporter.name) : givenUp(reporter.name, state)
  }
  const refuse = async () => {
    const reason = await reasonOf()
    await reporter.onRefused?.()
    fault.resolve(reason)
  }
  let recordFault: string | undefined
  const report = async () => {
    const facts = reporter.facts()
    reporter.say?.({ name: reporter.name, facts, fault: recordFault })
    try {
      const isStillOurs = await database.transaction((tx) => reportHost(tx, reporter, facts))
      recordFault = undefined
      if (!isStillOurs) await refuse()
    } catch (error) {
      recordFault = (error as Error).message
      throw error
    }
  }
  await report()
  // A starting host announces itself with its routes, because its predecessor must be gone before it hands out work. On
  // SQLite, all are on one machine.
  const unsubscribe =
    database.dialect === 'sqlite'
      ? () => {}
      : database.changes.subscribe('routes', () => {
          isNewestStart(database.read, reporter)
            .then((isOurs) => (isOurs ? undefined : refuse()))
            .catch(() => {})
        })
  const timer = setInterval(() => report().catch((error) => log.error({ err: error }, 'report failed')), EVERY_MS)
  return {
    fault: fault.promise,
    report,
    async stop() {
      clearInterval(timer)
      unsubscribe()
    },
  }
}
