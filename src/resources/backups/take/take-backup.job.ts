import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
  type YieldingOperation,
} from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { endAlert } from '../../alerts/public.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { holdSite, type Site } from '../../sites/public.ts'
import { actions, events } from '../actions.ts'
import {
  completeBackup,
  findBackup,
  forgetBackup,
  freeSlots,
  markCreating,
  markFailed,
  newestCompleted,
  newestWarning,
  setBackupOperation,
  setDamage,
  untriedSince,
} from '../backup.store.ts'
import {
  type Backup,
  type BackupKind,
  downloadBytes,
  nameInRepository,
  OLDER_KEPT_MS,
  type Origin,
  siteOwner,
  TRUST_MS,
} from '../backup.ts'
import { rhythmOf, rhythms } from '../schedule/backup-times.ts'
import { repeatTurn } from '../schedule/schedule.store.ts'
import { measureLater } from './measure-backup.job.ts'
import { measureBackup } from './measure-backup.ts'
import { orderBackup } from './order-backup.ts'
import { type TakenBackup, takeBackup } from './take-backup.ts'
import { alertOfBackup, tellOfDamage, tellOfFailure, tellOfWarning } from './tell-of-failure.ts'

const Input = Type.Object({
  siteId: Type.Integer(),
  backupId: Type.Integer(),
  /** Whether other work waits for it. If so, its download is measured later. */
  isAwaited: Type.Optional(Type.Boolean()),
})
type Input = Type.Static<typeof Input>
type Context<Results = unknown> = StepContext<Input, HostServices, Results>

/** How many scheduled backups a host takes at once, and only while no other work waits. */
const SCHEDULED_AT_ONCE = 2

/** Takes the backup of an existing row, which a user or the schedule has inserted. */
const definition = {
  input: Input,
  on: 'host',
  changeableBy: { site: 'use backups' },
  attempts: 3,
  steps: {
    take: { run: take, undo: removeContent, weight: 3 },
    measure: { run: measure },
    complete: { commit: complete },
  },
  failed,
} as const

export const takeBackupJob = durableWith<HostServices>()({ name: 'backup.take', ...definition })

/** Takes scheduled backups. */
export const takeScheduledBackup = durableWith<HostServices>()({
  name: 'backup.take_scheduled',
  ...definition,
  atOnce: SCHEDULED_AT_ONCE,
  yields: repeatLater,
})

/** When a scheduled backup that has yielded is taken. */
const REPEATED_AFTER_MS = 10 * MINUTE_MS

/** A site that is changed all the time gets its backups, too: without a fresh one, none yields. */
async function repeatLater(tx: Tx, { input, now }: YieldingOperation<Input>): Promise<boolean> {
  const { siteId, backupId } = input
  const backup = await findBackup(tx, siteId, backupId)
  if (!backup) return false
  const newest = await newestCompleted(tx, siteId, backup.kind)
  const rhythm = rhythmOf[backup.kind]
  if (!newest || newest.takenAt < now - 2 * rhythms[rhythm].everyMs) return false
  await repeatTurn(tx, siteId, rhythm, now + REPEATED_AFTER_MS)
  return true
}

/** A backup that another operation waits for. */
export interface RequestedBackup {
  readonly siteId: number
  readonly backupId: number
  readonly operationId: number
}

/**
 * Requests backups of a site that another operation waits for, in this order, in the queue of the site. On-demand ones
 * take a slot each, so hold the site.
 */
export async function requestBackups(
  tx: Tx,
  { id: siteId, accountId, hostId }: Pick<Site, 'id' | 'accountId' | 'hostId'>,
  kinds: readonly BackupKind[],
  { origin, createdBy, now }: { readonly origin: Origin; readonly createdBy: string | null; readonly now: number },
): Promise<RequestedBackup[]> {
  const requested: RequestedBackup[] = []
  for (const kind of kinds) {
    const { id: backupId } = await orderBackup(tx, { siteId, kind, origin, createdBy, now })
    const input = { siteId, backupId, isAwaited: true }
    const operationId = await enqueue(tx, takeBackupJob, input, { siteId, accountId, hostId, now })
    await setBackupOperation(tx, backupId, operationId)
    requested.push({ siteId, backupId, operationId })
  }
  return requested
}

interface Taken extends TakenBackup {
  /** Backups that have lost data which this one did not heal, by name. */
  readonly damaged?: Readonly<Record<string, string>>
}

/** A path may be longer than this. */
const MOST_DAMAGE_CHARACTERS = 200

async function take(context: Context): Promise<Taken> {
  const { services, input, signal } = context
  const backup = await context.transaction((tx) => takeUp(tx, input))
  const before = await newestCompleted(services.database.read, input.siteId, backup.kind)
  const taken = await takeBackup(services, {
    siteId: input.siteId,
    name: nameInRepository(backup),
    kind: backup.kind,
    estimatedBytes: before?.bytes,
    trustMs: TRUST_MS[backup.origin],
    untried: await untriedSince(services.database.read, input.siteId),
    signal,
    progress: context.progressBytes,
  })
  const damaged = await services.backups.repository(siteOwner(input.siteId)).damaged({ signal })
  if (damaged.size === 0) return taken
  const inShort = [...damaged].map(([name, what]) => [name, what.slice(0, MOST_DAMAGE_CHARACTERS)])
  return { ...taken, damaged: Object.fromEntries(inShort) }
}

/** Measures the download of a requested backup, because its archive has another length than its files. */
async function measure(context: Context): Promise<number | null> {
  const { services, input, signal, progress } = context
  if (!services.config.measureBackups) return null
  const backup = await findBackup(services.database.read, input.siteId, input.backupId)
  if (input.isAwaited || backup?.origin !== 'ondemand' || backup.kind !== 'fs') return null
  const { coreVersion } = (context.results as { take: TakenBackup }).take
  return measureBackup(services, { ...backup, coreVersion }, { signal, progress })
}

/**
 * Resumes a failed backup for a retry, which needs a slot again.
 * @throws PermanentFailure
 */
async function takeUp(tx: Tx, { siteId, backupId }: Input): Promise<Backup> {
  await holdSite(tx, siteId)
  const backup = await findBackup(tx, siteId, backupId)
  if (!backup) throw new PermanentFailure('This backup was canceled. Create another backup')
  if (backup.state !== 'failed') return backup
  if (backup.origin === 'ondemand' && (await freeSlots(tx, siteId, backup.kind)) === 0)
    throw new PermanentFailure('The site has reached its limit of on-demand backups of this type. Delete one first')
  return (await markCreating(tx, backupId)) as Backup
}

async function removeContent({ services, input }: Context): Promise<void> {
  const { siteId, backupId } = input
  const backup = await findBackup(services.database.read, siteId, backupId)
  // The row must go after the content that it names.
  if (backup) await services.backups.repository(siteOwner(siteId)).remove(nameInRepository(backup))
}

async function complete(tx: Tx, context: Context<{ take: Taken }>): Promise<void> {
  const { siteId, backupId } = context.input
  await holdSite(tx, siteId)
  const backup = await findBackup(tx, siteId, backupId)
  if (!backup) throw new PermanentFailure('This backup was canceled')
  const { warning, damaged = {} } = context.results.take
  const isNews = backup.kind === 'db' && warning !== undefined && warning !== (await newestWarning(tx, siteId))
  await completeBackup(tx, backup, context.results.take, context.now())
  await endAlert(tx, alertOfBackup(backup), context.now())
  if (isNews) await tellOfWarning(tx, context, { siteId, warning })
  const backups = await setDamage(tx, backup, new Map(Object.entries(damaged)))
  await tellOfDamage(tx, context, { siteId, backups })
  if (backup.origin !== 'ondemand') return
  const bytes = downloadBytes({ ...backup, bytes: context.results.take.bytes })
  const { config, hostId } = context.services
  if (bytes === null && config.measureBackups) await measureLater(tx, backup, { ...context, hostId })
  const data = { id: String(backupId), type: backup.kind, bytes: bytes === null ? null : String(bytes) }
  await changeOfJob(tx, context).tell({ type: events.ondemand_backup_created, data })
}

async function failed(tx: Tx, context: FailureContext<Input>): Promise<void> {
  const { siteId, backupId } = context.input
  const backup = await findBackup(tx, siteId, backupId)
  if (!backup || backup.state === 'completed') return
  // A scheduled backup is not retried, because the next one will follow.
  if (context.canceled || backup.origin === 'scheduled') await forgetBackup(tx, backupId)
  else {
    const error = context.error ?? ''
    await markFailed(tx, backupId, { error, deleteAt: context.now() + OLDER_KEPT_MS })
  }
  if (context.canceled) return
  if (backup.origin === 'scheduled') await tellOfFailure(tx, context, backup)
  else {
    const message = `${whatOf(backup)} ${backupId} failed: ${context.error}`
    await changeOfJob(tx, context).record({ action: actions['backup.failed'], message })
  }
}

const whatOf = ({ kind }: Backup): string => (kind === 'fs' ? 'File backup' : 'Database backup')
