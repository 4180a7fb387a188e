import type { WriteOptions } from '../../../backups/backup-store.ts'
import { contentPlace, type SitePlace } from '../../../hosting/site-database/database-content.ts'
import type { StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { requireDirectory } from '../../sites/public.ts'
import { completeBackup, forgetBackup, setBackupOperation, untriedSince } from '../backup.store.ts'
import { type BackupKind, nameInRepository, siteOwner, TRUST_MS } from '../backup.ts'
import { keepCore } from '../take/keep-core.ts'
import { orderBackup } from '../take/order-backup.ts'
import { againIfDamaged, orRemove } from '../take/read-back.ts'
import { type BackupOrder, takeBackup } from '../take/take-backup.ts'
import { unfinishedUndoPoints } from './restore.store.ts'

/** Backup that a step has created. */
export interface CreatedUndoPoint {
  readonly id: number
  readonly warning?: string
}

/** How an undo point is taken. */
export interface KeepOptions extends Pick<BackupOrder, 'within' | 'estimatedBytes'> {
  /** Whether to test-load the database. An operation that loads it anyway need not. Default: yes. */
  readonly isTried?: boolean
}

type Context = StepContext<unknown, HostServices>
type OfSite<Order = { readonly siteId: number }> = StepContext<Order, HostServices>

/**
 * Creates a step that backs up files or database of a closed site.
 * @param isWanted whether the operation overwrites them. Default: always
 */
export const keeping = <Order extends { readonly siteId: number }>(
  kind: BackupKind,
  isWanted: (order: Order) => boolean = () => true,
  options: (context: OfSite<Order>) => KeepOptions = () => ({}),
) => ({
  run: async (context: OfSite<Order>): Promise<CreatedUndoPoint | null> =>
    isWanted(context.input) ? keepUndoPoint(context, context.input.siteId, kind, options(context)) : null,
  undo: (context: Pick<OfSite<Order>, 'services' | 'operationId' | 'transaction' | 'input'>) =>
    forgetUnfinished(context, context.input.siteId),
})

/** Creates a step that backs up most of the files while the site is open, so that little is left when it is closed. */
export const copyingAhead = <Order extends { readonly siteId: number }>(
  isWanted: (order: Order) => boolean = () => true,
) => ({
  /** @returns the bytes of the files */
  async run(context: OfSite<Order>): Promise<{ bytes: number } | null> {
    const { services, input, operationId, signal, progressBytes } = context
    if (!isWanted(input)) return null
    const directory = await requireDirectory(context)
    const content = contentPlace(input.siteId, directory)
    // The undo point contains it, too.
    await keepCore(services.backups, {
      version: directory.coreVersion,
      corePath: services.siteDirectories.corePath(directory),
      trustMs: TRUST_MS.scheduled,
      signal,
    })
    const { bytes } = await services.siteFiles.size(content)
    const onProgress = (done: number) => progressBytes(done, Math.max(done, bytes))
    await copyAhead(services, { content, operationId, signal, onProgress })
    return { bytes }
  },
  undo: forgetFilesAhead,
  weight: 3,
})

/** Removes the backup of {@link copyingAhead}. The undo point has what it needs of it. */
export async function forgetFilesAhead({
  services,
  input,
  operationId,
}: Pick<OfSite, 'services' | 'input' | 'operationId'>): Promise<void> {
  await forgetAhead(services, input.siteId, operationId)
}

/**
 * Backs up what a step of an operation is about to overwrite of a site, for 7 days. Each first attempt takes a new
 * backup, because the site may have changed since an earlier operation's attempt. An interrupted one is taken again
 * with the same id. A step may take one of each kind at the same time.
 * @returns the id of the backup, and a description of what it lacks
 */
export async function keepUndoPoint(
  context: Context,
  siteId: number,
  kind: BackupKind,
  { isTried = true, within, estimatedBytes }: KeepOptions = {},
): Promise<CreatedUndoPoint> {
  const { services, operationId, signal, now } = context
  if (context.attempt === 1) await forgetUnfinished(context, siteId, kind)
  const { read } = services.database
  const [known] = context.attempt === 1 ? [] : await unfinishedUndoPoints(read, siteId, operationId, kind)
  const point =
    known ??
    (await context.transaction(async (tx) => {
      const row = await orderBackup(tx, { siteId, kind, origin: 'undo', createdBy: null, now: now() })
      await setBackupOperation(tx, row.id, operationId)
      return row
    }))
  const progress = (done: number, total: number) => context.progressBytes(done, total)
  const untried = await untriedSince(read, siteId)
  const order = {
    siteId,
    name: nameInRepository(point),
    kind,
    trustMs: TRUST_MS.undo,
    untried,
    isTried,
    ...(within && { within }),
    ...(estimatedBytes !== undefined && { estimatedBytes }),
    signal,
    progress,
  }
  const taken = await takeBackup(services, order)
  const { id } = point
  await context.transaction((tx) => completeBackup(tx, { id, siteId, kind, origin: 'undo' }, taken, now()))
  return { id, ...(taken.warning && { warning: taken.warning }) }
}

/**
 * Backs up the files of a site under a name that no record knows, while the site is open. The undo point, taken later
 * when the site is closed, then writes and reads back only what has changed since. Everything that it reuses is read
 * back here. After an interruption, the same call completes it.
 */
export async function copyAhead(
  { backups, siteFiles }: HostServices,
  {
    content,
    operationId,
    ...options
  }: { content: SitePlace; operationId: number } & Required<Pick<WriteOptions, 'signal' | 'onProgress'>>,
): Promise<void> {
  const { signal } = options
  const repository = backups.repository(siteOwner(content.siteId))
  const name = aheadOf(operationId)
  await againIfDamaged(async () => {
    const readBack = new Set<string>()
    await repository.writeTree(siteFiles.walk(content, { signal }), { name, readBack, ...options })
    await orRemove(repository, { name, signal }, () => repository.verify(name, { signal, only: 'added', readBack }))
  })
}

/** Removes what {@link copyAhead} has written, except the parts that an undo point uses. */
export async function forgetAhead({ backups }: HostServices, siteId: number, operationId: number): Promise<void> {
  await backups.repository(siteOwner(siteId)).remove(aheadOf(operationId))
}

/** Returns the name of the backup that {@link copyAhead} takes for an operation. */
export const aheadOf = (operationId: number): string => `ahead-${operationId}`

/**
 * Removes incomplete undo points of one kind, or of both, which have no use. Complete ones stay even when the operation fails, because they are
 * backups.
 */
export async function forgetUnfinished(
  context: Pick<Context, 'services' | 'operationId' | 'transaction'>,
  siteId: number,
  kind?: BackupKind,
): Promise<void> {
  const { services, operationId } = context
  for (const point of await unfinishedUndoPoints(services.database.read, siteId, operationId, kind)) {
    await services.backups.repository(siteOwner(siteId)).remove(nameInRepository(point))
    await context.transaction((tx) => forgetBackup(tx, point.id))
  }
}
