import Type from 'typebox'
import { phpVersions } from '../../hosting/php/runtime.ts'
import { type Database, lockForUpdate, type Tx } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { openOperations } from '../../platform/operations/open-operations.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { holdSite } from '../sites/public.ts'
import { countOpenOnHost, dueUpdates, hasFailedSince, type Installed, installedReleases } from './due-update.store.ts'
import { knownReleases, type Release } from './release.store.ts'
import { isEnoughPhp } from './releases.ts'
import { SCHEDULE, securityRelease, whyNotUpdated } from './security-release.ts'
import { updateBySchedule } from './update-by-schedule.job.ts'

/**
 * Updates that may wait for each host. Few, so that requests of users hardly ever wait for one. 1,000 sites take four
 * hours or more.
 */
const ORDERED_AT_ONCE = 4
/**
 * After a failure, a host gets no other update for this long, so that a bad release reaches few sites before a person
 * looks.
 */
const PAUSE_MS = 600_000

/** Requests security releases for sites without other operations, a few for each host at a time. */
export const planUpdates = durableWith<{ readonly database: Database }>()({
  name: 'cms.plan_updates',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: { order: { run: requestUpdates } },
})

export const planUpdatesOften = schedule({
  name: 'cms.plan_updates',
  everyMs: 60_000,
  definition: planUpdates,
  input: () => ({}),
})

interface Outdated extends Installed {
  readonly release: Release
}

async function requestUpdates(context: StepContext<object, { readonly database: Database }>): Promise<void> {
  const { services, signal, transaction, now } = context
  const releases = await knownReleases(services.database.read)
  const outdated = (await installedReleases(services.database.read)).flatMap((installed): Outdated[] => {
    const release = securityRelease(releases, installed.coreVersion)
    return release ? [{ ...installed, release }] : []
  })
  for (const [hostId, ofHost] of Map.groupBy(outdated, (each) => each.hostId)) {
    signal.throwIfAborted()
    await transaction((tx) => requestOnHost(tx, hostId, ofHost, now()))
  }
}

async function requestOnHost(tx: Tx, hostId: number, outdated: readonly Outdated[], now: number): Promise<void> {
  // Two processes that plan at once would each use the places that both have seen.
  await lockForUpdate(tx, 'hosts', hostId)
  if (await hasFailedSince(tx, hostId, { since: now - PAUSE_MS, now })) return
  let room = ORDERED_AT_ONCE - (await countOpenOnHost(tx, updateBySchedule.name, hostId))
  for (const { release, ...installed } of outdated) {
    const { version, phpVersion } = release
    const enough = phpVersions.filter((each) => isEnoughPhp(each, phpVersion))
    for (const { siteId, accountId } of await dueUpdates(tx, installed, { version, phpVersions: enough, now }, room)) {
      // Another process may have been first, or a user may have requested something else.
      if (!(await holdSite(tx, siteId)) || (await openOperations(tx, siteId)).length > 0) continue
      if (await whyNotUpdated(tx, { siteId, version })) continue
      const about = { siteId, accountId, hostId, source: SCHEDULE, now }
      await enqueue(tx, updateBySchedule, { siteId, version, channel: 'stable' }, about)
      room--
    }
  }
}
