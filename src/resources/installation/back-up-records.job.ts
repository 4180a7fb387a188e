import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { requestScheduled } from '../backups/public.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { livingSites, setBackedUp } from './installation.store.ts'
import { backUpRecords, forgetRecordsBackups, type RecordsParts, recordsRepository } from './records-backup.ts'
import { tellOperator } from './tell-operator.ts'

type Services = Pick<ControlServices, 'config' | 'database' | 'backups' | 'masterKey'>

/** Backs up the control database, with everything needed to restore it on an empty machine. */
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

/** Hourly, like the databases of sites: an older copy would not know all that exists. */
export const backUpRecordsHourly = schedule({
  name: 'records.back_up',
  everyMs: 3_600_000,
  definition: backUpRecordsJob,
  input: () => ({}),
})

/** Returns what an empty machine needs, besides the storage and the backup key. */
export async function recordsParts({
  config,
  ...services
}: Omit<Services, 'config'> & { readonly config: { readonly dataDir: string } }): Promise<RecordsParts> {
  const credentials = await readFile(join(config.dataDir, 'credentials.json'), 'utf8').catch(() => null)
  return { ...services, credentials }
}

/** The operations that were requested. */
export interface OwnBackupRequest {
  /** Operations that back up sites. */
  readonly sites: readonly number[]
  /** The operation that backs up the control database, after those. */
  readonly records: number
}

/**
 * Requests a fresh backup of every site, and then one of the control database, so that the storage has everything that
 * it mentions.
 */
export async function requestOwnBackup(
  tx: Tx,
  { isOfRecordsOnly, now }: { readonly isOfRecordsOnly: boolean; readonly now: number },
): Promise<OwnBackupRequest> {
  const sites = isOfRecordsOnly ? [] : await orderSites(tx, now)
  return { sites, records: await enqueue(tx, backUpRecordsJob, {}, { after: sites }) }
}

/**
 * Requests backups of all sites. A backup that already waits will show the site as it is when it runs, and is not
 * awaited.
 */
async function orderSites(tx: Tx, now: number): Promise<number[]> {
  const ordered: number[] = []
  for (const site of await livingSites(tx))
    for (const kind of ['fs', 'db'] as const) {
      const id = await requestScheduled(tx, site, kind, now)
      if (id !== undefined) ordered.push(id)
    }
  return ordered
}
