import { contentPlace } from '../../hosting/site-database/database-content.ts'
import type { StepContext } from '../../platform/operations/definition.ts'
import {
  type BeforeRelease,
  copyDatabaseOfSite,
  fetchRelease,
  lookBeforeRelease,
  prepareRootFiles,
  type ReleaseContext,
  requirePageOfRelease,
  runOnRelease,
  upgradeDatabase,
  upgradeOtherBlogs,
  type Warned,
} from '../cms-version/public.ts'
import type { HostServices } from '../kit/host-services.ts'
import { contentReplacement, purgeCaches, requireDirectory, runSiteTask, stagedContent } from '../sites/public.ts'
import type { SafeUpdateOrder, UpdatedItem } from './safe-update.ts'

/*
 * The steps of a safe update that give the site another release of WordPress. Their work is that of an update of
 * WordPress alone. But the site opens before the comparison, so visitors write before an undo.
 */

export interface CoreResults {
  /** Null: the update leaves WordPress as it is. */
  readonly core: BeforeRelease | null
  readonly upgrade?: { readonly upgraded: boolean } | null
  readonly answer?: Warned | null
}
type Context<Results = unknown> = StepContext<SafeUpdateOrder, HostServices, Results>
type CoreContext = Context<CoreResults>

/** Returns the context of the same step in an update of WordPress alone. */
function asRelease(context: CoreContext): ReleaseContext {
  const { input, results } = context
  const { core, answer } = results
  if (!input.core) throw new Error('This safe update does not update WordPress')
  return {
    ...context,
    input: { siteId: input.siteId, ...input.core },
    results: { look: core as BeforeRelease, answer: answer ?? undefined },
  }
}

const inRelease =
  <Result>(work: (context: ReleaseContext) => Promise<Result>) =>
  (context: CoreContext): Promise<Result> =>
    work(asRelease(context))

/** Whether the database has the tables of the earlier release still, so that this runs on what visitors wrote since. */
const fitsEarlier = ({ upgrade }: Partial<CoreResults>): boolean => upgrade?.upgraded === false

const replacement = contentReplacement<SafeUpdateOrder, CoreResults>({
  isNeeded: ({ core }) => core != null,
  content: {
    async switch(context, directory) {
      await stagedContent.switch(context, directory)
      await runOnRelease(context, directory, asRelease(context).input.version)
    },
    async switchBack(context, directory) {
      const { services, input, results } = context
      const { core } = results
      if (fitsEarlier(results)) await services.siteFiles.switchBack(contentPlace(input.siteId, directory))
      else await stagedContent.switchBack(context, directory)
      if (core) await runOnRelease(context, directory, core.version)
    },
    cleanUp: stagedContent.cleanUp,
  },
})

/** Fetches the release, if the update has one that the site does not have yet. */
async function prepareCore(context: Context): Promise<BeforeRelease | null> {
  const { coreVersion } = await requireDirectory(context)
  if (!context.input.core || context.input.core.version === coreVersion) return null
  const release = asRelease(context as CoreContext)
  await fetchRelease(release)
  return lookBeforeRelease(release)
}

/** Opens the site after an undo. Caches may have pages and values of the newer release. */
async function openWithEarlier(context: StepContext<SafeUpdateOrder, HostServices, Partial<CoreResults>>) {
  const { services, input, results, transaction, log } = context
  const { siteId } = input
  if (results.core)
    await runSiteTask(services, siteId, 'flush-object-cache', {}, { whileHeld: true }).catch((error) =>
      log.warn({ err: error, siteId }, 'could not flush the object cache of a site after an update was undone'),
    )
  await replacement.close.undo(context)
  if (results.core) await transaction((tx) => purgeCaches(tx, siteId, { pages: 'all', files: 'all' }))
}

const { commit: open } = replacement.reopening(async () => {})

export const coreSteps = {
  core: { run: prepareCore, weight: 3 },
  files: replacement.staged({ run: inRelease(prepareRootFiles) }),
  close: { ...replacement.close, undo: openWithEarlier },
  database: replacement.closed(replacement.staged({ run: inRelease(copyDatabaseOfSite), weight: 3 })),
  switch: replacement.switchOver(),
  upgrade: replacement.closed({ run: inRelease(upgradeDatabase), weight: 2 }),
  blogs: replacement.closed({ run: inRelease(upgradeOtherBlogs) }),
  answer: replacement.answering('a WordPress update', inRelease(requirePageOfRelease)),
  // The undo lets a retry commit it again.
  open: { commit: open, undo: async () => {} },
  cleanUp: replacement.cleaningUp,
} as const

/** Returns what the steps have updated, for the report. */
export function updatedCore({ input, results }: CoreContext): UpdatedItem[] {
  const { core, answer } = results
  if (!core || !input.core) return []
  const [from, to] = [core.version, input.core.version]
  const warning = answer ? `. ${answer.warning}` : ''
  const message = `Updated WordPress from ${from} to ${to}${warning}`
  return [{ kind: 'core', name: 'wordpress', outcome: 'updated', from, to, message }]
}

/** Returns the context with which the update of WordPress is recorded, if there was one. */
export const recordedRelease = (context: CoreContext): ReleaseContext | undefined =>
  context.results.core ? asRelease(context) : undefined
