import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedules.ts'
import { requestScheduled } from '../backups/schedule/plan-backups.job.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { livingSites, setBackedUp } from './installation.store.ts'
import { backUpRecords, forgetRecordsBackups, type RecordsParts, recordsRepository } from './records-backup.ts'
import { tellOperator } from './tell-operator.ts'

type Services = Pick<ControlServices, 'config' | 'database' | 'backups' | 'masterKey'>

/** Puts all records into the storage of backups, with what is needed to use them on an empty machine. */
export const backUpRecordsJob = durableWith<Services>()({
  name: 'records.back_up',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 3,
  failed: tellOperator,
  steps: {
    write: {
      async run({ services, signal, now }) {
        const { name, sizeBytes } = await backUpRecords(await recordsParts(services), { now: now(), signal })
        return { name, sizeBytes }
      },
    },
    noted: { commit: (tx, { now }) => setBackedUp(tx, now()) },
    forget: {
      run: ({ services, signal, now }) =>
        forgetRecordsBackups(recordsRepository(services.backups), { now: now(), signal }),
    },
  },
})

/** Sites' databases are backed up every hour, too: records that are older would know less than there is. */
export const backUpRecordsHourly = schedule({
  name: 'records.back_up',
  everyMs: 3_600_000,
  definition: backUpRecordsJob,
  input: () => ({}),
})

/** What an empty machine needs, besides the storage and the key of the backups. */
export async function recordsParts({
  config,
  ...services
}: Omit<Services, 'config'> & { readonly config: { readonly dataDir: string } }): Promise<RecordsParts> {
  const credentials = await readFile(join(config.dataDir, 'credentials.json'), 'utf8').catch(() => null)
  return { ...services, credentials }
}

/** Work that was asked for. */
export interface OwnBackupRequest {
  /** Operations that back up sites. */
  readonly sites: readonly number[]
  /** The one that backs up the records, after those. */
  readonly records: number
}

/**
 * Asks for a fresh backup of every site, and for one of the records when those have ended: what the records speak of is then in the storage.
 */
export async function requestOwnBackup(
  tx: Tx,
  { isOfRecordsOnly, now }: { readonly isOfRecordsOnly: boolean; readonly now: number },
): Promise<OwnBackupRequest> {
  const sites = isOfRecordsOnly ? [] : await orderSites(tx, now)
  return { sites, records: await enqueue(tx, backUpRecordsJob, {}, { after: sites }) }
}

/** One that waits already shows the site as it is then, and is not waited for. */
async function orderSites(tx: Tx, now: number): Promise<number[]> {
  const ordered: number[] = []
  for (const site of await livingSites(tx))
    for (const kind of ['fs', 'db'] as const) {
      const id = await requestScheduled(tx, site, kind, now)
      if (id !== undefined) ordered.push(id)
    }
  return ordered
}
