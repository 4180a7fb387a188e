import { stagingOf } from '../../hosting/plugin-directory/stage-package.ts'
import { contentPlace } from '../../hosting/site-database/database-content.ts'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { type CreatedUndoPoint, findBackup, nameInRepository, siteOwner, wantedFiles } from '../backups/public.ts'
import type { HostServices } from '../kit/host-services.ts'
import { purgeCaches, runSiteTask } from '../sites/public.ts'
import type { InnerFaults } from './front-fault.ts'
import { changeUnderWay, endChange, type PluginChange } from './plugin.store.ts'

/** What a change of a plugin, and its rollback, need of a step. */
type OfOperation<Results> = Pick<
  StepContext<{ readonly siteId: number }, HostServices, Results>,
  'services' | 'input' | 'operationId' | 'signal' | 'results' | 'transaction' | 'log'
>
/** `keep_files` exists if the operation changes files. */
export type ChangeContext = OfOperation<{
  readonly look: { fault: string | null; inner?: InnerFaults; databaseErrors?: readonly string[] }
  readonly keep_files?: CreatedUndoPoint | null
}>
type Undoing = OfOperation<{ readonly look?: unknown; readonly keep_files?: CreatedUndoPoint | null }>
/** What {@link restorePaths} needs of a step. */
export type OperationWithBackup = Pick<
  StepContext<{ readonly siteId: number }, HostServices, { readonly keep_files?: CreatedUndoPoint | null }>,
  'services' | 'input' | 'operationId' | 'signal' | 'results'
>

/**
 * Rolls back an interrupted or failed change of a plugin: restores its files, and activates the same plugins. May be
 * interrupted, and called again. Changes of the plugin to the database stay.
 */
export async function takeBack(context: Undoing): Promise<void> {
  const { services, operationId, input, log } = context
  const { siteId } = input
  const change = await changeUnderWay(services.database.read, operationId)
  if (!change) return
  if (change.folder !== null) await takeBackFiles(context, change.folder)
  const [active, network] = [[...change.before.active], [...change.before.network]]
  const { dropIn } = await runSiteTask(services, siteId, 'set-active-plugins', { active, network })
  if (dropIn)
    await runSiteTask(services, siteId, 'flush-object-cache', {}).catch((error) =>
      log.warn({ err: error, siteId }, 'could not flush the object cache of a site after a plugin rollback'),
    )
  await context.transaction(async (tx) => {
    await endChange(tx, operationId)
    await purgeCaches(tx, siteId, { pages: 'all', files: 'all' })
  })
}

const takeBackFiles = (context: Undoing, folder: NonNullable<PluginChange['folder']>): Promise<void> =>
  restorePaths(context, [`wp-content/plugins/${folder}`])

/** Restores paths of a site from the backup that the operation took first, while no PHP runs. */
export async function restorePaths(context: OperationWithBackup, changed: readonly string[]): Promise<void> {
  const { services, input, operationId, signal } = context
  const { siteFiles, pool, siteDirectories, backups } = services
  const found = await siteDirectories.ofSite(input.siteId)
  if (!found) throw new PermanentFailure('The site has no site directory on this host')
  const directory = contentPlace(input.siteId, found)
  const scope = { paths: [...changed, `wp-content/${stagingOf(operationId)}`] }
  const files = wantedFiles(backups.repository(siteOwner(input.siteId)), await pointName(context), scope)
  await siteFiles.prepare(directory, files, { scope, signal })
  await pool.between(input.siteId, () => siteFiles.switch(directory), { endsProcess: true })
  await siteFiles.cleanUp(directory)
}

/** Returns the name of the backup of the files from before the operation. */
async function pointName({ services, input, results }: OperationWithBackup): Promise<string> {
  const id = results.keep_files?.id
  const backup = id === undefined ? undefined : await findBackup(services.database.read, input.siteId, id)
  if (!backup) throw new PermanentFailure('The backup of the files no longer exists')
  return nameInRepository(backup)
}
