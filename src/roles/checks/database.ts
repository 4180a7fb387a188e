import { hostReports } from '../../hosting/host.store.ts'
import { readDatabaseTime } from '../../platform/operations/worker/lease.ts'
import { backedUpAt } from '../../resources/installation/installation.store.ts'
import { describeControlDatabase } from '../process-context.ts'
import {
  type Check,
  type CheckContext,
  type Finding,
  ok,
  onDatabase,
  problem,
  problemOf,
  skipped,
  warning,
} from './check.ts'

/** A host that has not reported for this long does nothing. */
const SILENT_MS = 60_000
/** Backups are taken every hour. */
const BACKUP_LATE_MS = 3 * 3_600_000

/** Checks the control database, and the facts that only it has: hosts, and backups of its own. */
export const databaseCheck: Check = {
  area: 'databases',
  async run(context) {
    const { config, records } = context
    if (records.kind === 'none') return [skipped(records.why)]
    if (records.kind === 'fault') return [problemOf(records.error)]
    return onDatabase(context, async ({ database }) => {
      const now = await readDatabaseTime(database)
      const found = [ok(`The control database answers: ${describeControlDatabase(config)}.`)]
      if (context.running === 'stopped') return found
      return [...found, ...(await silentHosts(context, now)), ...(await oldBackup(context, now))]
    })
  },
}

const silentHosts = (context: CheckContext, now: number) =>
  onDatabase(context, async ({ database }) =>
    (await hostReports(database.read))
      .filter(({ seenAt }) => now - seenAt > SILENT_MS)
      .map(({ name, seenAt }) => ({
        ...problem(
          `The host ${name} ${seenAt === 0 ? 'does not run' : `was last heard of at ${new Date(seenAt).toISOString()}`}. Its sites are down.`,
          'Start it and check its log. To list all hosts, run stead host list.',
        ),
        area: 'php' as const,
      })),
  )

const oldBackup = (context: CheckContext, now: number): Promise<readonly Finding[]> =>
  onDatabase(context, async ({ database }) => {
    const at = await backedUpAt(database.read)
    if (at === null || now - at < BACKUP_LATE_MS) return []
    const text = `The control database was last backed up at ${new Date(at).toISOString()}.`
    return [{ ...warning(text, 'Run stead backup create and check why it fails.'), area: 'storage' as const }]
  })
