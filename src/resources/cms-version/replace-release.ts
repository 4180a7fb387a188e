import Type from 'typebox'
import { CoreUnavailable } from '../../hosting/core-library/core-library.ts'
import { compareVersions, isStable } from '../../hosting/core-library/wordpress-version.ts'
import { contentPlace, withSnapshot } from '../../hosting/site-database/database-content.ts'
import { setCoreOfDirectory } from '../../hosting/site-directories/directory.store.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directory.ts'
import type { Tx } from '../../platform/db/database.ts'
import { PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { endAlert } from '../alerts/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { type DatabaseErrors, databaseWarning, frontFault, newDatabaseErrors } from '../plugins/public.ts'
import { changeSite, holdSite, LONG_TASK_MS, requireDirectory, runSiteTask, upgradeBlogs } from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { forgetFailedUpdate } from './failed-update.store.ts'
import { undoneUpdate } from './remember-failure.ts'
import { rootFiles, wantedRootFiles } from './root-files.ts'
import { SCHEDULE } from './security-release.ts'

/*
 * The work of the steps that give a site another release of WordPress: alone, or with plugins and themes.
 */

const target = {
  version: Type.String(),
  channel: Type.Union([Type.Literal('stable'), Type.Literal('beta')]),
}
/** A release that a site gets, and whether it follows betas from then on. */
export const ReleaseTarget = Type.Object(target)
export type ReleaseTarget = Type.Static<typeof ReleaseTarget>

export const ReleaseOrder = Type.Object({ siteId: Type.Integer(), ...target })
export type ReleaseOrder = Type.Static<typeof ReleaseOrder>

/** State before anything is changed. */
export interface BeforeRelease {
  readonly version: string
  /** Fault of the front page. */
  readonly fault: string | null
  /** Statements that the database refused meanwhile. Missing if an older Stead started the operation. */
  readonly databaseErrors?: readonly string[]
}

/** Why the owner should look, although the site responds. */
export type Warned = { readonly warning: string } | undefined

export type ReleaseResults = { look: BeforeRelease; answer?: Warned }
export type ReleaseContext = StepContext<ReleaseOrder, HostServices, ReleaseResults>

/** Fetches the release of the order. */
export async function fetchRelease({ services, input, signal }: ReleaseContext): Promise<void> {
  await services.cores.ensure(input.version, { signal }).catch((error) => {
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
}

/**
 * @throws PermanentFailure for a release older than the site's, unless the site's is a beta. The request may be an old
 * one that is retried, or the library of releases outdated
 */
export async function lookBeforeRelease(context: ReleaseContext): Promise<BeforeRelease> {
  const { coreVersion: version } = await requireDirectory(context)
  const { version: wanted } = context.input
  if (isStable(version) && compareVersions(wanted, version) < 0)
    throw new PermanentFailure(`The site runs WordPress ${version}, which is newer than ${wanted}`)
  const errors: DatabaseErrors = new Set()
  const fault = (await frontFault(context.services, context.input.siteId, { errors })) ?? null
  return { version, fault, databaseErrors: [...errors] }
}

/** Stages the files that either release has at the top of the web root. Other files there belong to the owner. */
export async function prepareRootFiles(context: ReleaseContext): Promise<void> {
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

/** Loads a copy beside the database of a closed site, for the new release to upgrade. */
export async function copyDatabaseOfSite(context: ReleaseContext): Promise<void> {
  const { services, input, signal } = context
  const place = contentPlace(input.siteId, await requireDirectory(context))
  await withSnapshot(services.siteDatabase, place, async (snapshot) => {
    const onProgress = (done: number) => context.progressBytes(done, Math.max(done, snapshot.estimatedBytes))
    await services.siteDatabase.load(place, snapshot.dump({ signal }), { signal, onProgress })
  })
}

/** Sets the release for the site's web root, from its next process on. */
export async function runOnRelease(
  { input, transaction, now }: Pick<StepContext<{ readonly siteId: number }>, 'input' | 'transaction' | 'now'>,
  directory: SiteDirectory,
  coreVersion: string,
): Promise<void> {
  await transaction(async (tx) => {
    await setCoreOfDirectory(tx, directory.id, coreVersion)
    if (await holdSite(tx, input.siteId)) await changeSite(tx, input.siteId, { coreVersion }, now())
  })
}

/** @returns whether the database had the tables of an earlier release */
export async function upgradeDatabase({ services, input }: ReleaseContext): Promise<{ upgraded: boolean }> {
  const options = { whileHeld: true, timeoutMs: LONG_TASK_MS, refusal: 'The database cannot be upgraded' }
  return runSiteTask(services, input.siteId, 'upgrade-database', {}, options)
}

/** Upgrades the other blogs of a network. */
export async function upgradeOtherBlogs(context: ReleaseContext): Promise<void> {
  await upgradeBlogs(context, context.input.siteId, { whileHeld: true, timeoutMs: LONG_TASK_MS })
}

/**
 * Checks that the front page responds, unless it did not respond before.
 * @returns a warning if the database refuses statements of the new release, or of plugins with it
 */
export async function requirePageOfRelease({ services, input, results }: ReleaseContext): Promise<Warned> {
  const { fault: before, databaseErrors } = results.look
  const ask = async (errors: DatabaseErrors) => {
    const fault = await frontFault(services, input.siteId, { whileHeld: true, errors })
    if (fault !== undefined && before === null)
      throw new PermanentFailure(`The site does not respond with WordPress ${input.version}: ${fault}`)
  }
  const warning = databaseWarning(await newDatabaseErrors(ask, databaseErrors))
  return warning === undefined ? undefined : { warning }
}

/** Writes what an update of WordPress has changed. */
export async function recordRelease(tx: Tx, context: ReleaseContext): Promise<void> {
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
