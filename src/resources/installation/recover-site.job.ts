import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import { BackupDamaged, BackupMissing, type BackupRepository } from '../../backups/backup-store.ts'
import { contentPlace, DumpUnreadable } from '../../hosting/site-database/database-content.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import type { WantedEntry } from '../../hosting/site-files/file-content.ts'
import { giveTo } from '../../hosting/site-files/platform/lay-out-directory.ts'
import type { Tx } from '../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { releaseHeld } from '../../platform/operations/host-operations.ts'
import {
  type BackupKind,
  type CompletedBackup,
  keptCore,
  listCompleted,
  nameInRepository,
  siteOwner,
} from '../backups/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { closeForWork, holdSite, openSite, purgeCaches, siteFilled } from '../sites/public.ts'
import { actions } from './actions.ts'

const Input = Type.Object({ siteId: Type.Integer() })
type Input = Type.Static<typeof Input>
type Context<Results = unknown> = StepContext<Input, HostServices, Results>
type Looked = Context<{ look: boolean }>

/**
 * Recreates the site directory of a site from its newest readable backups, after the control database was restored on
 * an empty machine. A site with a site directory is left unchanged. The caller closes the site, so that visitors never
 * see half of it.
 */
export const recoverSite = durableWith<HostServices>()({
  name: 'site.bring_back',
  input: Input,
  on: 'host',
  changeableBy: 'account',
  steps: {
    // Before anything is created, so that after an interruption the site is not taken for one that existed.
    look: { run: ({ services, input }: Context) => services.siteDirectories.isLost(input.siteId) },
    core: { run: fetchCore },
    close: { run: close, undo: (context: Context) => context.services.pool.release(context.input.siteId) },
    files: { run: bringFiles, weight: 4 },
    database: { run: bringDatabase, weight: 4 },
    open: { commit: open },
  },
  failed,
})

/** Fetches the release that the site ran on from its usual source, else from the backups. */
async function fetchCore({ services, input, results, signal }: Looked): Promise<void> {
  const directory = results.look && (await services.siteDirectories.ofSite(input.siteId))
  if (!directory) return
  await services.ensureCore(directory.coreVersion, keptCore(services), signal)
}

/** Closes the site. Its record is already closed, and this also stops the host's own tasks from starting PHP. */
async function close(context: Looked): Promise<void> {
  if (context.results.look) await closeForWork(context, context.input.siteId)
}

async function bringFiles(context: Looked): Promise<void> {
  const { services, input, signal } = context
  if (!context.results.look) return
  const directory = await services.siteDirectories.makeAgain(input.siteId)
  const site = contentPlace(input.siteId, directory)
  await fromNewest(context, 'fs', async (repository, backup) => {
    const isOtherCore = backup.coreVersion !== directory.coreVersion
    // Files of a release at the top of the web root must match the site's release.
    const except = isOtherCore ? await layRootOfCore(directory, services.siteDirectories.corePath(directory)) : []
    const scope = { paths: [''], except }
    const wanted = wantedFiles(repository, nameInRepository(backup), new Set(except))
    const onProgress = (done: number) => context.progressBytes(done, backup.bytes)
    await services.siteFiles.prepare(site, wanted, { scope, signal, onProgress })
    await services.siteFiles.switch(site)
    await services.siteFiles.cleanUp(site)
  })
  await services.siteDirectories.databases.fit(directory, (await services.template()).path)
  await siteFilled(services, input.siteId)
}

async function bringDatabase(context: Looked): Promise<void> {
  const { services, input, signal } = context
  if (!context.results.look) return
  const directory = contentPlace(input.siteId, await services.siteDirectories.makeAgain(input.siteId))
  await fromNewest(context, 'db', async (repository, backup) => {
    const onProgress = (done: number) => context.progressBytes(done, backup.bytes)
    await services.siteDatabase.load(directory, repository.readStream(nameInRepository(backup)), { signal, onProgress })
    await services.siteDatabase.switch(directory)
    await services.siteDatabase.cleanUp(directory)
  })
  // Visitors stay out until the site's record says that it is open.
  services.pool.release(input.siteId)
}

/**
 * Uses the newest backup. Skips a damaged one, because the one before it is better than none.
 * @throws PermanentFailure when there is none
 */
async function fromNewest(
  { services, input, log }: Context,
  kind: BackupKind,
  use: (repository: BackupRepository, backup: CompletedBackup) => Promise<void>,
): Promise<void> {
  const { siteId } = input
  const repository = services.backups.repository(siteOwner(siteId))
  const what = kind === 'fs' ? 'files' : 'database'
  for (const backup of await listCompleted(services.database.read, siteId, kind))
    try {
      return await use(repository, backup)
    } catch (error) {
      if (!(error instanceof BackupDamaged || error instanceof BackupMissing || error instanceof DumpUnreadable))
        throw error
      log.error({ err: error, siteId, backup: backup.id }, `a backup of a site's ${what} is unusable`)
    }
  throw new PermanentFailure(`The site has no usable backup of its ${what}`)
}

async function* wantedFiles(
  repository: BackupRepository,
  name: string,
  except: ReadonlySet<string>,
): AsyncGenerator<WantedEntry> {
  for await (const entry of repository.entries(name)) {
    if (except.has(entry.path)) continue
    if (entry.kind !== 'file') yield entry
    else {
      const { chunks: _, ...file } = entry
      yield { ...file, open: async () => repository.readFile(entry) }
    }
  }
}

/** @returns their names */
async function layRootOfCore(directory: SiteDirectory, corePath: string): Promise<string[]> {
  const files = (await readdir(corePath, { withFileTypes: true })).filter((entry) => entry.isFile())
  const names = files.map(({ name }) => name).filter((name) => name !== 'wp-config.php')
  const web = join(directory.path, 'web')
  for (const name of names) await copyFile(join(corePath, name), join(web, name))
  if (directory.uid !== null) await giveTo(directory.uid, web)
  return names
}

async function open(tx: Tx, context: Looked): Promise<void> {
  const { input, operationId, now, results } = context
  const { siteId } = input
  await releaseHeld(tx, operationId)
  const site = await holdSite(tx, siteId)
  if (!site) return
  await openSite(tx, siteId, operationId, now())
  if (!results.look) return
  await purgeCaches(tx, siteId, { pages: 'all', files: 'all' })
  await changeOfJob(tx, context).record({
    action: actions['site.brought_back'],
    message: `The site was recovered from its backups after ${reasonOf(context)}.`,
  })
}

/** @param context its source names the lost host. Without one, Stead itself was restored */
function reasonOf({ source }: Pick<Context, 'source'>): string {
  const { lostHost } = (source ?? {}) as { lostHost?: string }
  return lostHost === undefined ? 'a restore of Stead' : `the loss of the host ${lostHost}`
}

async function failed(tx: Tx, context: FailureContext<Input>): Promise<void> {
  const { siteId } = context.input
  await releaseHeld(tx, context.operationId)
  await openSite(tx, siteId, context.operationId, context.now())
  if (!(await holdSite(tx, siteId))) return
  await changeOfJob(tx, context).record({
    action: actions['site.bring_back_failed'],
    message: `Recovering the site from its backups failed: ${context.error ?? 'canceled'}.`,
  })
}
