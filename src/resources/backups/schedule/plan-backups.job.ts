import Type from 'typebox'
import type { Config } from '../../../config.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../../platform/operations/enqueue.ts'
import { schedule } from '../../../platform/operations/schedules.ts'
import { setOperation } from '../backup.store.ts'
import { orderBackup } from '../take/order-backup.ts'
import { takeScheduledBackup } from '../take/take-backup.job.ts'
import type { Rhythm } from './backup-times.ts'
import { expireBackups } from './expire-backups.job.ts'
import { proveBackups } from './prove-backups.job.ts'
import { type DueSite, scheduledUnderWay, scheduleNewSites, sitesWithExpired, takeDue } from './schedule.store.ts'

/** Sites in one transaction: nobody waits long for the right to write. */
const BATCH = 20

interface PlanningServices {
  readonly database: Database
  readonly config: Pick<Config, 'scheduledBackups'>
}

/** Asks for what is due now: backups of sites whose turn has come, and the end of those whose time is over. */
export const planBackups = durableWith<PlanningServices>()({
  name: 'backups.plan',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    newSites: { run: (context) => untilNone(context, (tx, now) => scheduleNewSites(tx, now, BATCH)) },
    databases: { run: whereWanted((context) => untilNone(context, (tx, now) => requestDue(tx, 'database', now))) },
    files: { run: whereWanted((context) => untilNone(context, (tx, now) => requestDue(tx, 'files', now))) },
    proofs: { run: whereWanted((context) => untilNone(context, proveDue)) },
    expired: { run: (context) => untilNone(context, expire) },
  },
})

export const planBackupsOften = schedule({
  name: 'backups.plan',
  everyMs: 60_000,
  definition: planBackups,
  input: () => ({}),
})

type Context = Pick<StepContext, 'now' | 'signal' | 'transaction'>

/** What an operator has switched off is not done. What is due then is done once when it is on again. */
function whereWanted(run: (context: Context) => Promise<void>) {
  return async (context: Context & { readonly services: PlanningServices }): Promise<void> => {
    if (context.services.config.scheduledBackups) await run(context)
  }
}

/** @param work does one batch. @returns when a batch had nothing to do */
async function untilNone({ now, signal, transaction }: Context, work: (tx: Tx, now: number) => Promise<number>) {
  for (;;) {
    signal.throwIfAborted()
    if ((await transaction((tx) => work(tx, now()))) === 0) return
  }
}

const kindOf = { files: 'fs', database: 'db' } as const

async function requestDue(tx: Tx, rhythm: Exclude<Rhythm, 'proof'>, now: number): Promise<number> {
  const due = await takeDue(tx, rhythm, now, BATCH)
  for (const site of due) await requestScheduled(tx, site, kindOf[rhythm], now)
  return due.length
}

/**
 * Asks for a backup that Stead takes by itself.
 * @returns the operation; undefined when one waits already
 */
export async function requestScheduled(
  tx: Tx,
  { siteId, accountId, hostId }: DueSite,
  kind: 'fs' | 'db',
  now: number,
): Promise<number | undefined> {
  // the host is away, or has not come to it yet: the one that waits will show the site as it is then
  if (await scheduledUnderWay(tx, siteId, kind)) return undefined
  const backup = await orderBackup(tx, { siteId, kind, origin: 'scheduled', createdBy: null, now })
  const input = { siteId, backupId: backup.id }
  const operationId = await enqueue(tx, takeScheduledBackup, input, { siteId, accountId, hostId, source: ROUTINE })
  await setOperation(tx, backup.id, operationId)
  return operationId
}

/** Not in the site's own queue: nothing of the site itself is touched, and nobody should wait for it. */
async function proveDue(tx: Tx, now: number): Promise<number> {
  const due = await takeDue(tx, 'proof', now, BATCH)
  for (const { siteId, accountId, hostId } of due)
    await enqueue(tx, proveBackups, { siteId }, { accountId, hostId, source: ROUTINE })
  return due.length
}

async function expire(tx: Tx, now: number): Promise<number> {
  const sites = await sitesWithExpired(tx, now, BATCH)
  for (const { siteId, accountId, hostId } of sites)
    await enqueue(tx, expireBackups, { siteId }, { siteId, accountId, hostId, source: ROUTINE })
  return sites.length
}
