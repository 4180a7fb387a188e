import type { Tx } from '../../platform/db/database.ts'
import { durableWith, type FailureContext } from '../../platform/operations/definition.ts'
import { raiseAlert } from '../alerts/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { contentReplacement, openAfterFailure, stagedContent } from '../sites/public.ts'
import { actions } from './actions.ts'
import { rememberThatItFailed, undoneUpdate } from './remember-failure.ts'
import {
  type BeforeRelease,
  copyDatabaseOfSite,
  fetchRelease,
  lookBeforeRelease,
  prepareRootFiles,
  ReleaseOrder,
  type ReleaseResults,
  recordRelease,
  requirePageOfRelease,
  runOnRelease,
  upgradeDatabase,
  upgradeOtherBlogs,
} from './replace-release.ts'

/** Switches files and database as usual, and also the release of the site. */
export const replacement = contentReplacement<ReleaseOrder, ReleaseResults>({
  content: {
    async switch(context, directory) {
      await stagedContent.switch(context, directory)
      await runOnRelease(context, directory, context.input.version)
    },
    async switchBack(context, directory) {
      await stagedContent.switchBack(context, directory)
      if (context.results.look) await runOnRelease(context, directory, context.results.look.version)
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
  input: ReleaseOrder,
  on: 'host',
  changeableBy: { site: 'change the CMS version' },
  attempts: 3,
  steps: {
    core: replacement.open({ run: fetchRelease, weight: 3 }),
    look: replacement.open<BeforeRelease>({ run: lookBeforeRelease }),
    files: replacement.staged({ run: prepareRootFiles }),
    close: replacement.close,
    database: replacement.closed(replacement.staged({ run: copyDatabaseOfSite, weight: 3 })),
    switch: replacement.switchOver(),
    upgrade: replacement.closed({ run: upgradeDatabase, weight: 2 }),
    blogs: replacement.closed({ run: upgradeOtherBlogs }),
    answer: replacement.answering('a WordPress update', requirePageOfRelease),
    done: replacement.reopening(recordRelease),
    settle: replacement.cleaningUp(),
  },
} as const

export const updateCmsVersionJob = durableWith<HostServices>()({
  name: 'site.update_cms_version',
  ...updateDefinition,
  failed: tellOfFailure,
})

async function tellOfFailure(tx: Tx, context: FailureContext<ReleaseOrder>): Promise<void> {
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
