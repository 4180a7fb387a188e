import Type from 'typebox'
import { BackupDamaged, type BackupRepository } from '../../../backups/backup-store.ts'
import { frontPageFault } from '../../../hosting/php/front-page.ts'
import type { VisitorRequest } from '../../../hosting/php/pool/pool.ts'
import { PhpTimeout } from '../../../hosting/php/runtime.ts'
import { limitTime } from '../../../hosting/php/time-limit.ts'
import { contentPlace, type SitePlace } from '../../../hosting/site-database/database-content.ts'
import { embeddedKind } from '../../../hosting/site-database/database-kind.ts'
import { DiskFull } from '../../../hosting/site-directories/disk-space.ts'
import type { SiteDirectory } from '../../../hosting/site-directories/site-directory.ts'
import type { WantedEntry } from '../../../hosting/site-files/file-content.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { endAlert } from '../../alerts/public.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { newestCompleted } from '../backup.store.ts'
import { type CompletedBackup, nameInRepository, siteOwner } from '../backup.ts'
import { verifyCore } from '../take/keep-core.ts'
import { tellOfProof } from '../take/tell-of-failure.ts'

type Context = StepContext<{ siteId: number }, HostServices>

/** Files and database that belong together: the newest of each. */
interface Pair {
  readonly files: CompletedBackup
  readonly database: CompletedBackup
}

/** The backups that were proved, or why none were, which does not count against them. */
type Outcome = { readonly unproved: string } | { readonly files: number; readonly database: number }

/** Covers a cold start of PHP with a site's plugins on a busy machine. */
const FIRST_PAGE_MS = 120_000

/**
 * Restores the newest backups of a site into a throw-away site directory. Its front page must load, and its database
 * must accept writes. The site directory cannot be reached from outside, and is removed in any case.
 */
export const proveBackups = durableWith<HostServices>()({
  name: 'backup.prove',
  input: Type.Object({ siteId: Type.Integer() }),
  on: 'host',
  changeableBy: 'account',
  atOnce: 1,
  attempts: 2,
  steps: { prove: { run: prove } },
  async failed(tx, context) {
    if (!context.canceled) await tellOfProof(tx, context, context.input.siteId)
  },
})

async function prove(context: Context): Promise<Outcome> {
  const { services, input } = context
  const pair = await newestPair(context)
  if (!pair) return { unproved: 'the site does not have backups of both files and database yet' }
  let directory: SiteDirectory | undefined
  try {
    const database = (await services.siteDirectories.ofSite(input.siteId))?.database ?? embeddedKind
    directory = await services.siteDirectories.makeThrowAway({ ...(await services.template()), database })
    await proveIn(context, directory, pair)
    const { siteId } = input
    await context.transaction((tx) => endAlert(tx, { kind: 'backup_proof_failed', siteId }, context.now()))
    return { files: pair.files.id, database: pair.database.id }
  } catch (error) {
    if (error instanceof BackupDamaged) await lookForDamage(context, pair)
    if (!(error instanceof DiskFull || error instanceof PhpUnavailable)) throw error
    const reason = error instanceof DiskFull ? 'the disk is full' : 'no PHP process is available'
    context.log.warn({ err: error, siteId: input.siteId }, `skipped a test restore: ${reason}`)
    return { unproved: error.message }
  } finally {
    if (directory) await services.siteDirectories.remove(directory)
  }
}

/** Thrown when the host has no memory for one more PHP, or is too busy to start it. */
class PhpUnavailable extends Error {
  override readonly name = 'PhpUnavailable'
}

async function newestPair({ services, input }: Context): Promise<Pair | undefined> {
  const { read } = services.database
  const database = await newestCompleted(read, input.siteId, 'db')
  const files = await newestCompleted(read, input.siteId, 'fs')
  return files && database && { files, database }
}

/** Reads both completely, which marks damaged content. The next backup writes it again if the site still has it. */
async function lookForDamage({ services, input, signal }: Context, { files, database }: Pair): Promise<void> {
  const repository = services.backups.repository(siteOwner(input.siteId))
  for (const each of [files, database])
    await repository.verify(nameInRepository(each), { signal }).catch((error) => {
      if (!(error instanceof BackupDamaged)) throw error
    })
}

async function proveIn(context: Context, directory: SiteDirectory, { files, database }: Pair): Promise<void> {
  const { services, input, signal } = context
  const repository = services.backups.repository(siteOwner(input.siteId))
  // Sites never have negative ids, so this site directory conflicts with none.
  const place = contentPlace(-directory.id, directory)
  const total = files.bytes + database.bytes
  try {
    await layFiles(services, place, repository, files, {
      signal,
      onProgress: (done) => context.progressBytes(done, total),
    })
    const dump = repository.readStream(nameInRepository(database))
    const onProgress = (done: number) => context.progressBytes(files.bytes + done, total)
    await services.siteDatabase.load(place, dump, { signal, onProgress })
    await services.siteDatabase.switch(place)
    await services.siteDatabase.cleanUp(place)
    const version = files.coreVersion as string
    await verifyCore(services.backups, version, signal)
    // With the configuration from the backup, it would write into the live site.
    await services.siteDirectories.databases.fit(directory, (await services.template()).path)
    await seeItAnswer(context, { ...directory, coreVersion: version })
  } finally {
    await services.pool.stop(place.siteId, 0)
  }
}

async function layFiles(
  { siteFiles }: HostServices,
  place: SitePlace,
  repository: BackupRepository,
  files: CompletedBackup,
  options: { signal: AbortSignal; onProgress: (done: number) => void },
): Promise<void> {
  await siteFiles.prepare(place, wanted(repository, nameInRepository(files)), { ...options, scope: { paths: [''] } })
  await siteFiles.switch(place)
  await siteFiles.cleanUp(place)
}

async function* wanted(repository: BackupRepository, name: string): AsyncGenerator<WantedEntry> {
  for await (const entry of repository.entries(name)) {
    if (entry.kind !== 'file') yield entry
    else yield { ...entry, open: async () => repository.readFile(entry) }
  }
}

/** Starts the PHP process with a lower priority than those of sites with visitors. */
async function seeItAnswer({ services, input }: Context, directory: SiteDirectory): Promise<void> {
  const site = await services.hostedSite(input.siteId)
  // The site was deleted meanwhile.
  if (!site) return
  const { phpVersion, address } = site
  const place = services.siteDirectories.phpSite(directory, { phpVersion, address })
  const process = await services.pool.startSpare(place).catch((error) => {
    // Nothing of the site has run yet.
    throw error instanceof PhpTimeout ? new PhpUnavailable('PHP did not start in time', { cause: error }) : error
  })
  if (!process) throw new PhpUnavailable('there is not enough memory to start PHP')
  const lift = limitTime({
    ms: FIRST_PAGE_MS,
    pid: process.pid,
    what: 'its homepage did not respond',
    onOver: (error) => process.kill(error),
  })
  try {
    await process.runTask('check-copy', {})
    const handle = async (_site: unknown, request: VisitorRequest) => process.request({ ...request, bodyBytes: 0 })
    const fault = await frontPageFault({ handle }, { ...place, siteId: input.siteId })
    if (fault) throw new Error(fault)
  } finally {
    lift()
    await process.stop(0)
  }
}
