import { setTimeout as pause } from 'node:timers/promises'
import type { BackupFacts } from '../../backups/backup-store.ts'
import { leaseHolder, takeLeaseOver } from '../../backups/repository-lease.ts'
import { isHeardOf } from '../../hosting/identity/belonging.ts'
import { timestamp } from '../../platform/http/schemas.ts'
import { findOperation } from '../../platform/operations/read.ts'
import { livingBar } from '../../platform/terminal/progress-bar.ts'
import { recordsParts, requestOwnBackup } from '../../resources/installation/back-up-records.job.ts'
import { setBackedUp } from '../../resources/installation/installation.store.ts'
import {
  backUpRecords,
  listRecordsBackups,
  openRecordsBackup,
  recordsRepository,
  verifyRecords,
} from '../../resources/installation/records-backup.ts'
import { backupStorage } from '../../resources/kit/open-backups.ts'
import type { ControlDatabase } from '../../roles/process-context.ts'
import type { Call } from '../command.ts'
import { CommandError, printOne, printRows } from '../output.ts'
import { listOfSite } from '../site-backups.ts'
import { type BackupKey, withBackups } from '../with-control-database.ts'

const LOOK_MS = 500

/** Runs `stead backup create`. */
export async function create({ config, flags }: Call<{ 'records-only': boolean }, BackupKey>): Promise<void> {
  return withBackups(config, async (context) => {
    const { records, backups } = context
    if (records.facts.hosts.some((host) => isHeardOf(host, Date.now()))) await order(records, flags['records-only'])
    else {
      if (!flags['records-only'])
        console.error(
          'Stead does not run, so this command backs up only the control database. It uses the existing backups of sites.',
        )
      const now = Date.now()
      await backUpRecords(await recordsParts({ ...context, config, database: records.database }), { now })
      await records.database.transaction((tx) => setBackedUp(tx, now))
    }
    const [newest] = await listRecordsBackups(recordsRepository(backups))
    if (newest) printOne(describeBackup(newest), flags.json)
  })
}

/** Requests the backup from the running Stead, and waits. */
async function order({ database }: ControlDatabase, isOfRecordsOnly: boolean): Promise<void> {
  const order = await database.transaction((tx) => requestOwnBackup(tx, { isOfRecordsOnly, now: Date.now() }))
  const bar = livingBar(process.stderr)
  const states = new Map<number, string>()
  try {
    for (;;) {
      for (const id of [...order.sites, order.records]) {
        if (states.has(id)) continue
        const operation = await findOperation(database.read, id)
        if (!operation) states.set(id, 'gone')
        else if (operation.finishedAt !== null) states.set(id, operation.state)
      }
      if (states.has(order.records)) break
      const doing = `Backed up ${states.size} of ${order.sites.length + 1} parts`
      bar.show({ doing, receivedBytes: 0, totalBytes: null })
      await pause(LOOK_MS)
    }
  } finally {
    bar.done()
  }
  const failed = order.sites.filter((id) => states.get(id) !== 'succeeded')
  if (failed.length > 0)
    console.error(
      `${failed.length} backups of sites failed. Stead uses the previous backup of each. Operations: ${failed.join(', ')}`,
    )
  if (states.get(order.records) !== 'succeeded') {
    const error = (await findOperation(database.read, order.records))?.error ?? 'unknown'
    throw new CommandError(`The backup of the control database failed: ${error}`, { exitCode: 1 })
  }
}

/** Runs `stead backup take-over`. */
export async function takeOverBackups({ config, flags }: Call<unknown, BackupKey>): Promise<void> {
  return withBackups(config, async ({ records: { database }, backups }) => {
    const storage = backupStorage(config)
    // This fails if the storage belongs to another installation.
    await backups.owners()
    await takeLeaseOver(storage, await leaseHolder(database), Date.now())
    printOne({ backups: storage.where, taken_over: true }, flags.json)
  })
}

/** Runs `stead backup list`. */
export async function list(
  call: Call<{ site: string | undefined; key: string | undefined }, BackupKey>,
): Promise<void> {
  const { config, flags } = call
  const { site, key } = flags
  if (site !== undefined) return listOfSite({ ...call, flags: { ...flags, site, key } })
  if (key !== undefined)
    throw new CommandError('--key requires --site. The control database of this data folder already has the key.')
  return withBackups(config, async ({ backups }) => {
    printRows((await listRecordsBackups(recordsRepository(backups))).map(describeBackup), flags.json)
  })
}

/** Runs `stead backup verify`. */
export async function verify({ config, flags }: Call<{ name: string | undefined }, BackupKey>): Promise<void> {
  return withBackups(config, async ({ backups }) => {
    const repository = recordsRepository(backups)
    const name = flags.name ?? (await listRecordsBackups(repository))[0]?.name
    if (name === undefined)
      throw new CommandError('No backup of the control database exists. To create one, run stead backup create')
    const rows = await verifyRecords(repository, name)
    const { head } = await openRecordsBackup(repository, name)
    printOne({ name, of: timestamp(head.takenAt), rows, whole: true }, flags.json)
  })
}

const describeBackup = ({ name, createdAt, sizeBytes, addedBytes }: BackupFacts) => ({
  name,
  of: timestamp(createdAt),
  bytes: sizeBytes,
  added_bytes: addedBytes,
})
