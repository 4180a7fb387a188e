import { hostState, isNewestStart, reportHost } from '../../hosting/host.store.ts'
import { isUsable } from '../../hosting/host-state.ts'
import { fenced, givenUp } from '../../hosting/identity/faults.ts'
import type { OperatorError } from '../../platform/operator-error.ts'
import type { ProcessContext, Role } from '../process-context.ts'

const EVERY_MS = 2000

/** The start of a host that reports. */
export interface Reporter {
  readonly hostId: number
  readonly epoch: number
  readonly name: string
  /** What the host says of itself at this moment. */
  readonly facts: () => object
  /** Told the same, before it is recorded: on a full disk it may be that nothing can be recorded. */
  readonly say?: ((report: HostReport) => void) | undefined
}

/** What a host says of itself. */
export interface HostReport {
  readonly name: string
  readonly facts: object
  /** Why its last report could not be recorded. */
  readonly fault?: string | undefined
}

export interface Reports extends Role {
  /** Resolves when the host was started elsewhere since. */
  readonly fault: Promise<OperatorError>
  /** Reports out of turn: something worth knowing has happened. */
  report(): Promise<void>
  stop(): Promise<void>
}

/** Says that the host is alive, and how it is; the first report is written when it resolves. */
export async function startReports({ database, log }: ProcessContext, reporter: Reporter): Promise<Reports> {
  const fault = Promise.withResolvers<OperatorError>()
  const reasonOf = async () => {
    const state = await hostState(database.read, reporter.hostId)
    return state === undefined || isUsable(state) ? fenced(reporter.name) : givenUp(reporter.name, state)
  }
  let recordFault: string | undefined
  const report = async () => {
    const facts = reporter.facts()
    reporter.say?.({ name: reporter.name, facts, fault: recordFault })
    try {
      const isStillOurs = await database.transaction((tx) => reportHost(tx, reporter, facts))
      recordFault = undefined
      if (!isStillOurs) fault.resolve(await reasonOf())
    } catch (error) {
      recordFault = (error as Error).message
      throw error
    }
  }
  await report()
  // a host that starts says so with its routes: its predecessor must be gone before it gives out work. On SQLite all are on one machine.
  const unsubscribe =
    database.dialect === 'sqlite'
      ? () => {}
      : database.changes.subscribe('routes', () => {
          isNewestStart(database.read, reporter)
            .then(async (isOurs) => isOurs || fault.resolve(await reasonOf()))
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
