import { reportControl } from '../../certificates/join/control-addresses.store.ts'
import type { Config } from '../../config.ts'
import { announcedAddress, isLoopback } from '../host/announced-address.ts'
import type { ProcessContext, RunningRole } from '../process-context.ts'

const EVERY_MS = 60_000

type Context = Pick<ProcessContext, 'database' | 'log'> & {
  readonly config: Pick<Config, 'internalListen' | 'databaseUrl'>
}

/**
 * Reports the address at which this control listens for machines that have joined, so that they know all controls. A
 * control on all addresses reports the one towards PostgreSQL, and none if it has only loopback addresses.
 */
export function startReportingControl({ config, database, log }: Context, port: number): RunningRole {
  const { internalListen, databaseUrl } = config
  const report = async () => {
    if (internalListen === 'off') return
    const listening = { hostListen: internalListen, hostAdvertise: undefined, databaseUrl }
    const { hostname, host } = new URL(await announcedAddress(listening, port))
    // The control alone reaches it there. With SQLite, so do the others.
    if (databaseUrl && isLoopback(hostname.replace(/^\[|\]$/g, ''))) return
    await database.transaction((tx) => reportControl(tx, host, Date.now()))
  }
  let reporting: Promise<void> = Promise.resolve()
  const reportInTurn = () => {
    reporting = reporting
      .then(report)
      .catch((error) => log.warn({ err: error }, 'could not report the address of this control'))
  }
  reportInTurn()
  const timer = setInterval(reportInTurn, EVERY_MS)
  return {
    async stop() {
      clearInterval(timer)
      await reporting
    },
  }
}
