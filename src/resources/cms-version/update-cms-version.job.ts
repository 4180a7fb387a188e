import Type from 'typebox'
import { CoreUnavailable } from '../../hosting/core-library/core-library.ts'
import { compareVersions, isStable } from '../../hosting/core-library/wordpress-version.ts'
import { contentPlace, withSnapshot } from '../../hosting/site-database/database-content.ts'
import { setCoreOfDirectory } from '../../hosting/site-directories/directory.store.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import type { Tx } from '../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { endAlert, raiseAlert } from '../alerts/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { type DatabaseErrors, databaseWarning, frontFault, newDatabaseErrors } from '../plugins/public.ts'
import {
  changeSite,
  contentReplacement,
  holdSite,
  LONG_TASK_MS,
  openAfterFailure,
  requireDirectory,
  runSiteTask,
  stagedContent,
  upgradeBlogs,
} from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { forgetFailedUpdate } from './failed-update.store.ts'
import { rememberThatItFailed, undoneUpdate } from './remember-failure.ts'
import { rootFiles, wantedRootFiles } from './root-files.ts'
import { SCHEDULE } from './security-release.ts'

const Order = Type.Object({
  siteId: Type.Integer(),
  version: Type.String(),
  channel: Type.Union([Type.Literal('stable'), Type.Literal('beta')]),
})
export type Order = Type.Static<typeof Order>

/** State before anything is changed. */
interface Before {
  readonly version: string
  /** Fault of the front page. */
  readonly fault: string | null
  /** Statements that the database refused meanwhile. Missing if an older Stead started the operation. */
  readonly databaseErrors?: readonly string[]
}

/** Why the owner should look, although the site responds. */
type Warned = { readonly warning: string } | undefined

type Results = { look: Before; answer?: Warned }
type Context = StepContext<Order, HostServices, Results>

/** Switches files and database as usual, and also the release of the site. */
export const replacement = contentReplacement<Order, Results>({
  content: {
    async switch(context, directory) {
      await stagedContent.switch(context, directory)
      await runOn(context, directory, context.input.version)
    },
    async switchBack(context, directory) {
      await stagedContent.switchBack(context, directory)
      if (context.results.look) await runOn(context, directory, context.results.look.version)
    },
    cleanUp: stagedContent.cleanUp,
  },
})

/**
 * Updates a site to another WordPress release. The release is fetched and its files are staged while the site is open.
 * Then the site is closed, its database is copied, and the new release upgrades the copy. So until `done`, switching
 * back restores everything.
 */
export const updateDefinition = {
  input: Order,
  on: 'host',
  changeableBy: { site: 'change the CMS version' },
  attempts: 3,
  steps: {
    core: replacement.open({ run: fetchCore, weight: 3 }),
    look: replacement.open<Before>({ run: look }),
    files: replacement.staged({ run: prepareFiles }),
    close: replacement.close,
    database: replacement.closed(replacement.staged({ run: copyDatabase, weight: 3 })),
    switch: replacement.switchOver(),
    upgrade: replacement.closed({ run: upgrade, weight: 2 }),
    blogs: replacement.closed({ run: upgradeOthers }),
    answer: replacement.answering('a WordPress update', requireFrontPage),
    done: replacement.reopening(recordUpdate),
    settle: replacement.cleaningUp(),
  },
} as const

export const updateCmsVersionJob = durableWith<HostServices>()({
  name: 'site.update_cms_version',
  ...updateDefinition,
  failed: tellOfFailure,
})

async function fetchCore({ services, input, signal }: Context): Promise<void> {
  await services.cores.ensure(input.version, { signal }).catch((error) => {
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
}

/**
 * @throws PermanentFailure for a release older than the site's, unless the site's is a beta. The request may be an old
 * one that is retried, or the library of releases outdated
 */
async function look(context: Context): Promise<Before> {
  const { coreVersion: version } = await requireDirectory(context)
  const { version: wanted } = context.input
  if (isStable(version) && compareVersions(wanted, version) < 0)
    throw new PermanentFailure(`The site runs WordPress ${version}, which is newer than ${wanted}`)
  const errors: DatabaseErrors = new Set()
  const fault = (await frontFault(context.services, context.input.siteId, { errors })) ?? null
  return { version, fault, databaseErrors: [...errors] }
}

/** Stages the files that either release has at the top of the web root. Other files there belong to the owner. */
async function prepareFiles(context: Context): Promise<void> {
  const { services, input, results, signal } = context
  const { siteDirectories, siteFiles } = services
  const directory = await requireDirectory(context)
  const [before, after] = [results.look.version, input.version].map((coreVersion) =>
    siteDirectories.corePath({ coreVersion }),
  )
  const paths = [...new Set([...(await rootFiles(before as string)), ...(await rootFiles(after as string))])]
  const options = { scope: { paths }, signal }
  await siteFiles.prepare(contentPlace(input.siteId, directory), wantedRootFiles(after as string), options)
}

async function copyDatabase(context: Context): Promise<void> {
  const { services, input, signal } = context
  const place = contentPlace(input.siteId, await requireDirectory(context))
  await withSnapshot(services.siteDatabase, place, async (snapshot) => {
    const onProgress = (done: number) => context.progressBytes(done, Math.max(done, snapshot.estimatedBytes))
    await services.siteDatabase.load(place, snapshot.dump({ signal }), { signal, onProgress })
  })
}

/** Sets the release for the site's web root, from its next process on. */
async function runOn(
  { input, transaction, now }: Pick<Context, 'input' | 'transaction' | 'now'>,
  directory: SiteDirectory,
  coreVersion: string,
): Promise<void> {
  await transaction(async (tx) => {
    await setCoreOfDirectory(tx, directory.id, coreVersion)
    if (await holdSite(tx, input.siteId)) await changeSite(tx, input.siteId, { coreVersion }, now())
  })
}

async function upgrade({ services, input }: Context): Promise<void> {
  const options = { whileHeld: true, timeoutMs: LONG_TASK_MS, refusal: 'The database cannot be upgraded' }
  await runSiteTask(services, input.siteId, 'upgrade-database', {}, options)
}

/** Upgrades the other blogs of a network. */
async function upgradeOthers(context: Context): Promise<void> {
  await upgradeBlogs(context, context.input.siteId, { whileHeld: true, timeoutMs: LONG_TASK_MS })
}

/**
 * Checks that the front page responds, unless it did not respond before.
 * @returns a warning if the database refuses statements of the new release, or of plugins with it
 */
async function requireFrontPage({ services, input, results }: Context): Promise<Warned> {
  const { fault: before, databaseErrors } = results.look
  const ask = async (errors: DatabaseErrors) => {
    const fault = await frontFault(services, input.siteId, { whileHeld: true, errors })
    if (fault !== undefined && before === null)
      throw new PermanentFailure(`The site does not respond with WordPress ${input.version}: ${fault}`)
  }
  const warning = databaseWarning(await newDatabaseErrors(ask, databaseErrors))
  return warning === undefined ? undefined : { warning }
}

async function recordUpdate(tx: Tx, context: Context): Promise<void> {
  const { input, results, source, now } = context
  const { siteId, version, channel } = input
  await changeSite(tx, siteId, { coreChannel: channel }, now())
  await forgetFailedUpdate(tx, siteId)
  await endAlert(tx, undoneUpdate(siteId), now())
  const data = { from: results.look.version, to: version }
  const why = source === SCHEDULE ? ' automatically, because it is a security release' : ''
  const warning = results.answer ? `. ${results.answer.warning}` : ''
  await changeOfJob(tx, context).record({
    action: actions['wordpress.version_updated'],
    message: `Updated WordPress from ${data.from} to ${data.to}${why}${warning}`,
    event: { type: events.wp_version_changed, data },
  })
}

async function tellOfFailure(tx: Tx, context: FailureContext<Order>): Promise<void> {
  const failure = await openAfterFailure(tx, context)
  if (!failure.site || context.canceled) return
  const isFinal = await rememberThatItFailed(tx, context)
  const { siteId, version } = context.input
  const detail = `WordPress was not updated to ${version}: ${failure.reason}`
  if (isFinal) await raiseAlert(tx, { ...undoneUpdate(siteId), detail }, context.now())
  await changeOfJob(tx, context).record({
    action: actions['wordpress.version_failed'],
    message: detail,
  })
}
