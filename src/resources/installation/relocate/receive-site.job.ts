import type { BackupRepository } from '../../../backups/backup-store.ts'
import { hostedSite } from '../../../hosting/host.store.ts'
import { faultOfPage, getFrontPage } from '../../../hosting/php/front-page.ts'
import { type Compared, compareLines, otherPage } from '../../../hosting/php/same-page.ts'
import { contentPlace } from '../../../hosting/site-database/database-content.ts'
import { differenceOfLoaded } from '../../../hosting/site-database/dumps/compare-dumps.ts'
import { sumUpApart } from '../../../hosting/site-database/dumps/sum-up-apart.ts'
import { CopyGone } from '../../../hosting/site-directories/site-directories.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { flagsOfRow } from '../../../site-flags.ts'
import { siteOwner, wantedFiles } from '../../backups/public.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { runSiteTask } from '../../sites/public.ts'
import { keptCore } from '../kept-core.ts'
import { FirstFiles, WholeContent } from './relocation.ts'

/*
 * The work of the new host of a site that moves: it fills a copy that nobody is served from. The operation that moves
 * the site waits for it, and removes the copy if anything fails.
 */

/** Running PHP may take this long before it is stopped. */
const GRACE_MS = 10_000
const ALL = { paths: [''] }

type Context<Input extends FirstFiles> = StepContext<Input, HostServices>

/** Copies most of the files while the site is open on its host. */
export const receiveFiles = durableWith<HostServices>()({
  name: 'site.receive_files',
  input: FirstFiles,
  on: 'host',
  changeableBy: 'account',
  steps: {
    core: { run: fetchCore },
    files: { run: prepareFiles, weight: 10 },
  },
})

/** Completes the copy while the site is closed, compares it, and checks that its WordPress works. */
export const receiveSite = durableWith<HostServices>()({
  name: 'site.receive',
  input: WholeContent,
  on: 'host',
  changeableBy: 'account',
  steps: {
    files: { run: switchFiles, weight: 2 },
    database: { run: loadDatabase, weight: 4 },
    answer: { run: seeItWork },
  },
})

/** Creates the copy. @throws PermanentFailure when it was removed, because the move has ended */
async function copyOf({ services, input }: Context<FirstFiles>): Promise<SiteDirectory> {
  try {
    return await services.siteDirectories.makeCopy(input)
  } catch (error) {
    if (error instanceof CopyGone) throw new PermanentFailure(error.message)
    throw error
  }
}

/** @throws PermanentFailure when this host does not see the storage of the other one */
async function repositoryOf({ services, input }: Context<FirstFiles>): Promise<BackupRepository> {
  const repository = services.backups.repository(siteOwner(input.siteId))
  if (await repository.find(input.files)) return repository
  throw new PermanentFailure('The new host cannot read the backup storage of the other host. Use the same on both')
}

async function fetchCore(context: Context<FirstFiles>): Promise<void> {
  const { services, signal } = context
  const { coreVersion } = await copyOf(context)
  const kept = keptCore(services.backups, async () => (await services.template()).corePath)
  await services.ensureCore(coreVersion, kept, signal)
}

async function prepareFiles(context: Context<FirstFiles>): Promise<void> {
  const { services, input, signal } = context
  const repository = await repositoryOf(context)
  const total = (await repository.find(input.files))?.sizeBytes ?? 0
  const place = contentPlace(input.siteId, await copyOf(context))
  const onProgress = (done: number) => context.progressBytes(done, Math.max(done, total))
  await services.siteFiles.prepare(place, wantedFiles(repository, input.files, ALL), { scope: ALL, signal, onProgress })
}

/** Puts the files in place, compares them, and connects them to the database of the copy. */
async function switchFiles(context: Context<WholeContent>): Promise<void> {
  const { services, input, signal } = context
  await prepareFiles(context)
  const directory = await copyOf(context)
  const place = contentPlace(input.siteId, directory)
  await services.siteFiles.switch(place)
  await services.siteFiles.cleanUp(place)
  const wanted = wantedFiles(await repositoryOf(context), input.files, ALL)
  const { written, removed } = await services.siteFiles.compare(place, wanted, { scope: ALL, signal })
  const [other] = [...written.first, ...removed.first]
  if (other !== undefined) throw new PermanentFailure(`The files could not be moved exactly: ${other} differs`)
  await services.siteDirectories.databases.fit(directory, (await services.template()).path)
}

async function loadDatabase(context: Context<WholeContent>): Promise<void> {
  const { services, input, signal } = context
  const { siteDatabase } = services
  const repository = await repositoryOf(context)
  const place = contentPlace(input.siteId, await copyOf(context))
  const total = (await repository.find(input.database))?.sizeBytes ?? 0
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
  const difference = await differenceOfLoaded(repository.readStream(input.database), load, dump, sumUpApart)
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
