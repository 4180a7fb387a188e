import Type from 'typebox'
import type { Config } from '../../../config.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../../platform/operations/enqueue.ts'
import { schedule } from '../../../platform/operations/schedule.ts'
import { setBackupOperation } from '../backup.store.ts'
import { orderBackup } from '../take/order-backup.ts'
import { takeScheduledBackup } from '../take/take-backup.job.ts'
import { backupKindOf, type Rhythm } from './backup-times.ts'
import { expireBackups } from './expire-backups.job.ts'
import { proveBackups } from './prove-backups.job.ts'
import {
  type SiteDueForBackup,
  scheduledUnderWay,
  scheduleNewSites,
  sitesWithExpired,
  takeDue,
} from './schedule.store.ts'

/** Sites per transaction, so that other writers do not wait long. */
const BATCH = 20

interface PlanningServices {
  readonly database: Database
  readonly config: Pick<Config, 'scheduledBackups'>
}

/** Enqueues what is due now: backups of sites whose turn has come, and the removal of expired ones. */
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

/**
 * Skips the step if the operator has turned scheduled backups off. Once they are on again, each step that was due runs
 * once.
 */
function whereWanted(run: (context: Context) => Promise<void>) {
  return async (context: Context & { readonly services: PlanningServices }): Promise<void> => {
    if (context.services.config.scheduledBackups) await run(context)
  }
}

/**
 * Repeats `work` until a batch had nothing to do.
 * @param work does one batch
 */
async function untilNone({ now, signal, transaction }: Context, work: (tx: Tx, now: number) => Promise<number>) {
  for (;;) {
    signal.throwIfAborted()
    if ((await transaction((tx) => work(tx, now()))) === 0) return
  }
}

async function requestDue(tx: Tx, rhythm: Exclude<Rhythm, 'proof'>, now: number): Promise<number> {
  const due = await takeDue(tx, rhythm, now, BATCH)
  for (const site of due) await requestScheduled(tx, site, backupKindOf[rhythm], now)
  return due.length
}

/**
 * Requests a scheduled backup.
 * @returns the operation, or undefined when one already waits
 */
export async function requestScheduled(
  tx: Tx,
  { siteId, accountId, hostId }: SiteDueForBackup,
  kind: 'fs' | 'db',
  now: number,
): Promise<number | undefined> {
  // The host is away or has not started it yet. The waiting backup will show the site as it is when it runs.
  if (await scheduledUnderWay(tx, siteId, kind)) return undefined
  const backup = await orderBackup(tx, { siteId, kind, origin: 'scheduled', createdBy: null, now })
  const input = { siteId, backupId: backup.id }
  const operationId = await enqueue(tx, takeScheduledBackup, input, { siteId, accountId, hostId, source: ROUTINE })
  await setBackupOperation(tx, backup.id, operationId)
  return operationId
}

/**
 * Enqueues proofs. They run outside the site's own queue, because they do not touch the site and must not delay its
 * operations.
 */
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
