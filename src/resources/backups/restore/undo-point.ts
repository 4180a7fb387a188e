import type { WriteOptions } from '../../../backups/backup-store.ts'
import { contentPlace, type SitePlace } from '../../../hosting/site-database/database-content.ts'
import type { StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { requireDirectory } from '../../sites/content/replace-content.ts'
import { setOperation, untriedSince } from '../backup.store.ts'
import {
  completeBackup,
  forgetBackup,
  type Kind,
  nameOf,
  orderBackup,
  siteOwner,
  TRUST_MS,
  takeBackup,
} from '../backup.ts'
import { againIfDamaged, orRemove } from '../take/read-back.ts'
import { unfinishedUndoPoints } from './restore.store.ts'

/** What was kept. */
export interface UndoPoint {
  readonly id: number
  readonly warning?: string
}

type Context = StepContext<unknown, HostServices>
type OfSite<Order = { readonly siteId: number }> = StepContext<Order, HostServices>

/** A step that keeps files or database of a closed site. @param isWanted whether the operation overwrites them; default: always */
export const keeping = <Order extends { readonly siteId: number }>(
  kind: Kind,
  isWanted: (order: Order) => boolean = () => true,
) => ({
  run: async (context: OfSite<Order>): Promise<UndoPoint | null> =>
    isWanted(context.input) ? keepUndoPoint(context, context.input.siteId, kind) : null,
  undo: (context: Pick<OfSite<Order>, 'services' | 'operationId' | 'transaction' | 'input'>) =>
    forgetUnfinished(context, context.input.siteId),
})

/** A step that keeps most of the files while the site is open, so that little is left when it is closed. */
export const copyingAhead = <Order extends { readonly siteId: number }>(
  isWanted: (order: Order) => boolean = () => true,
) => ({
  async run(context: OfSite<Order>): Promise<void> {
    const { services, input, operationId, signal, progressBytes } = context
    if (!isWanted(input)) return
    const content = contentPlace(input.siteId, await requireDirectory(context))
    const { bytes } = await services.siteFiles.size(content)
    const onProgress = (done: number) => progressBytes(done, Math.max(done, bytes))
    await copyAhead(services, { content, operationId, signal, onProgress })
  },
  undo: forgetFilesAhead,
  weight: 3,
})

/** Removes what {@link copyingAhead} has kept: the undo point has what it needs of it. */
export async function forgetFilesAhead({
  services,
  input,
  operationId,
}: Pick<OfSite, 'services' | 'input' | 'operationId'>): Promise<void> {
  await forgetAhead(services, input.siteId, operationId)
}

/**
 * Keeps what a step of an operation is about to overwrite of a site, for 7 days. Each first attempt takes a new one: since an attempt of the
 * past the site may have changed. One that was cut off is taken again under its number.
 * @returns the number of the backup, and what it lacks, in words
 */
export async function keepUndoPoint(context: Context, siteId: number, kind: Kind): Promise<UndoPoint> {
  const { services, operationId, signal, now } = context
  if (context.attempt === 1) await forgetUnfinished(context, siteId)
  const [known] = context.attempt === 1 ? [] : await unfinishedUndoPoints(services.database.read, siteId, operationId)
  const point =
    known ??
    (await context.transaction(async (tx) => {
      const row = await orderBackup(tx, { siteId, kind, origin: 'undo', createdBy: null, now: now() })
      await setOperation(tx, row.id, operationId)
      return row
    }))
  const progress = (done: number, total: number) => context.progressBytes(done, total)
  const untried = await untriedSince(services.database.read, siteId)
  const order = { siteId, name: nameOf(point), kind, trustMs: TRUST_MS.undo, untried, signal, progress }
  const taken = await takeBackup(services, order)
  const { id } = point
  await context.transaction((tx) => completeBackup(tx, { id, siteId, kind, origin: 'undo' }, taken, now()))
  return { id, ...(taken.warning && { warning: taken.warning }) }
}

/**
 * Backs the files of a site up under a name that no record knows, while the site is open: an undo point that is taken after it when the site
 * is closed writes, and reads back, only what has changed since: all that this leans on is read back here. Cut off, it is completed by the same call.
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

/** Removes what {@link copyAhead} has written; what an undo point has of it stays. */
export async function forgetAhead({ backups }: HostServices, siteId: number, operationId: number): Promise<void> {
  await backups.repository(siteOwner(siteId)).remove(aheadOf(operationId))
}

const aheadOf = (operationId: number): string => `ahead-${operationId}`

/** What was begun and never complete is of no use to anybody. Complete ones stay, also when the operation fails: they are a backup. */
export async function forgetUnfinished(
  context: Pick<Context, 'services' | 'operationId' | 'transaction'>,
  siteId: number,
): Promise<void> {
  const { services, operationId } = context
  for (const point of await unfinishedUndoPoints(services.database.read, siteId, operationId)) {
    await services.backups.repository(siteOwner(siteId)).remove(nameOf(point))
    await context.transaction((tx) => forgetBackup(tx, point.id))
  }
}
