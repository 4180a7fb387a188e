import type { BackupRepository } from '../../../backups/backup-store.ts'
import { hostedSite } from '../../../hosting/host.store.ts'
import { faultOfPage, getFrontPage } from '../../../hosting/php/front-page.ts'
import { type Compared, compareLines, otherPage } from '../../../hosting/php/same-page.ts'
import { contentPlace } from '../../../hosting/site-database/database-content.ts'
import { totalsDifference } from '../../../hosting/site-database/database-sums.ts'
import { differenceOfLoaded } from '../../../hosting/site-database/dumps/compare-dumps.ts'
import { sumUpApart } from '../../../hosting/site-database/dumps/sum-up-apart.ts'
import { CopyGone } from '../../../hosting/site-directories/site-directories.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { flagsOfRow } from '../../../site-flags.ts'
import { keptCore, siteOwner, wantedFiles } from '../../backups/public.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from '../../sites/public.ts'
import { FirstContent, settleAll, sharing, WholeContent } from './relocation.ts'

/*
 * The work of the new host of a site that moves: it fills a copy that nobody is served from. The operation that moves
 * the site waits for it, and removes the copy if anything fails.
 */

/** Running PHP may take this long before it is stopped. */
const GRACE_MS = 10_000
const ALL = { paths: [''] }

type Context<Input extends FirstContent> = StepContext<Input, HostServices>

/** Copies most of the content while the site is open on its host. */
export const receiveFiles = durableWith<HostServices>()({
  name: 'site.receive_files',
  input: FirstContent,
  on: 'host',
  changeableBy: 'account',
  readsBackupsOf: ({ siteId }) => [siteId],
  steps: {
    core: { run: fetchCore },
    files: { run: (context) => (context.input.isComplete ? completeFiles(context) : putFiles(context)), weight: 10 },
    database: { run: loadFirstDatabase, weight: 10 },
  },
})

/** Completes the copy while the site is closed, compares it, and checks that its WordPress works. */
export const receiveSite = durableWith<HostServices>()({
  name: 'site.receive',
  input: WholeContent,
  on: 'host',
  changeableBy: 'account',
  readsBackupsOf: ({ siteId }) => [siteId],
  steps: {
    content: { run: completeContent, weight: 4 },
    answer: { run: seeItWork },
  },
})

/** Creates the copy. @throws PermanentFailure when it was removed, because the move has ended */
async function copyOf({ services, input }: Context<FirstContent>): Promise<SiteDirectory> {
  try {
    return await services.siteDirectories.makeCopy(input)
  } catch (error) {
    if (error instanceof CopyGone) throw new PermanentFailure(error.message)
    throw error
  }
}

/** @throws PermanentFailure when this host does not see the storage of the other one */
async function repositoryOf({ services, input }: Context<FirstContent>): Promise<BackupRepository> {
  const repository = services.backups.repository(siteOwner(input.siteId))
  if (await repository.find(input.files)) return repository
  throw new PermanentFailure('The new host cannot read the backup storage of the other host. Use the same on both')
}

async function fetchCore(context: Context<FirstContent>): Promise<void> {
  const { services, signal } = context
  const { coreVersion } = await copyOf(context)
  await services.ensureCore(coreVersion, keptCore(services), signal)
}

/** Puts files of a backup in place, and compares those that have changed since the last time. */
async function putFiles(context: Context<FirstContent>): Promise<void> {
  const { services, input, signal } = context
  const { siteFiles } = services
  const repository = await repositoryOf(context)
  const total = (await repository.find(input.files))?.sizeBytes ?? 0
  const place = contentPlace(input.siteId, await copyOf(context))
  const onProgress = (done: number) => context.progressBytes(done, Math.max(done, total))
  const wanted = () => wantedFiles(repository, input.files, ALL)
  const options = { scope: ALL, signal, isCopy: true }
  await siteFiles.prepare(place, wanted(), { ...options, onProgress })
  await siteFiles.switch(place)
  await siteFiles.cleanUp(place)
  const { written, removed } = await siteFiles.compare(place, wanted(), options)
  const [other] = [...written.first, ...removed.first]
  if (other !== undefined) throw new PermanentFailure(`The files could not be moved exactly: ${other} differs`)
}

/** Files and database at the same time: the site is closed. */
async function completeContent(context: Context<WholeContent>): Promise<void> {
  // Two works must not create it at the same time.
  await copyOf(context)
  const of = sharing(context, ['files', 'database'])
  await settleAll([completeFiles(of.files), completeDatabase(of.database)])
}

/** Completes the files, and connects them to the database of the copy. */
async function completeFiles(context: Context<FirstContent>): Promise<void> {
  const { services, input } = context
  await putFiles(context)
  const directory = await copyOf(context)
  await services.siteFiles.forgetCompared(contentPlace(input.siteId, directory))
  await services.siteDirectories.databases.fit(directory, (await services.template()).path)
}

/** Fills the database of the copy. @returns whether it can be brought level later, or is the whole database */
async function loadFirstDatabase(context: Context<FirstContent>): Promise<{ isLevel: boolean; isComplete?: true }> {
  const { services, input } = context
  const { database, totals, isComplete } = input
  if (database !== undefined && isComplete) {
    await loadDatabase(context, database)
    return { isLevel: false, isComplete: true }
  }
  if (database === undefined || !totals) return { isLevel: false }
  await loadDatabase(context, database)
  const found = await services.siteDatabase.totals(contentPlace(input.siteId, await copyOf(context)))
  // Servers may print values in other ways. Then all of it is loaded again.
  return { isLevel: found !== undefined && totalsDifference(totals, found) === undefined }
}

async function completeDatabase(context: Context<WholeContent>): Promise<void> {
  const { services, input, signal } = context
  const { change, database } = input
  if (!change) return loadDatabase(context, database)
  const place = contentPlace(input.siteId, await copyOf(context))
  const repository = await repositoryOf(context)
  await services.siteDatabase.bringLevel(place, repository.readStream(database), change, { signal })
  const difference = totalsDifference(change.totals, (await services.siteDatabase.totals(place)) ?? {})
  if (difference) throw new PermanentFailure(`The database could not be moved exactly: ${difference}`)
}

async function loadDatabase(context: Context<FirstContent>, name: string): Promise<void> {
  const { services, input, signal } = context
  const { siteDatabase } = services
  const repository = await repositoryOf(context)
  const place = contentPlace(input.siteId, await copyOf(context))
  const total = (await repository.find(name))?.sizeBytes ?? 0
  const onProgress = (done: number) => context.progressBytes(done, 2 * Math.max(done, total))
  const load = async (sql: AsyncIterable<Uint8Array>) => {
    await siteDatabase.load(place, sql, { signal, onProgress })
    await siteDatabase.switch(place)
    await siteDatabase.cleanUp(place)
  }
  async function* dump() {
    const snapshot = await siteDatabase.snapshot(place)
    try {
      yield* snapshot.dump({ signal })
    } finally {
      await snapshot.close()
    }
  }
  const difference = await differenceOfLoaded(repository.readStream(name), load, dump, sumUpApart)
  if (difference) throw new PermanentFailure(`The database could not be moved exactly: ${difference}`)
}

/** Checks that the WordPress of the copy stores a write, and that its homepage is that of the other host. */
async function seeItWork(context: Context<WholeContent>): Promise<Compared | null> {
  const { services, input, signal } = context
  const { siteId, page: before } = input
  const { pool, siteDirectories, database } = services
  const record = await hostedSite(database.read, input.fromHostId, siteId)
  if (!record) throw new PermanentFailure('The site was deleted')
  const site = { ...siteDirectories.phpSite(await copyOf(context), record), ...flagsOfRow(record) }
  const asMoved = { hostedSite: async () => site, pool }
  const refusal = 'WordPress does not respond on the new host'
  await pool.hold(siteId, GRACE_MS)
  try {
    await runSiteTask(asMoved, siteId, 'flush-object-cache', {}, { whileHeld: true, refusal })
    await runSiteTask(asMoved, siteId, 'check-copy', {}, { whileHeld: true, refusal })
    const page = await getFrontPage(pool, site, { signal, whileHeld: true })
    const fault = faultOfPage(site, page) ?? (before ? otherPage(before, page) : undefined)
    if (fault) throw new PermanentFailure(`${refusal}: ${fault}`)
    return before ? compareLines(before, page) : null
  } finally {
    // Nobody is served from the copy until the records say so.
    pool.release(siteId)
  }
}
