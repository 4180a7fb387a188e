import { randomInt } from 'node:crypto'
import Type from 'typebox'
import { type CoreOffer, CoreUnavailable } from '../../hosting/core-library/core-library.ts'
import { compareVersions } from '../../hosting/core-library/wordpress-version.ts'
import type { Tx } from '../../platform/db/database.ts'
import { durable, durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import type { HostServices } from '../kit/host-services.ts'
import type { Site } from '../sites/public.ts'
import { hostToAsk, knownReleases, replaceReleases } from './release.store.ts'

/** Spreads the checks over the night, so that not all installations of Stead ask at once. */
const SPREAD_MS = 4 * 3_600_000

/** Fetches the list of WordPress releases from their source. */
export const lookForReleases = durableWith<HostServices>()({
  name: 'cms.look_for_releases',
  input: Type.Object({}),
  on: 'host',
  changeableBy: 'account',
  attempts: 1,
  steps: { look: { run: look } },
})

/** Starts a check that a user waits for. It belongs to no site, and lists of operations hide it. */
export const askForReleases = (tx: Tx, { hostId }: Pick<Site, 'hostId'>, now: number): Promise<number> =>
  enqueue(tx, lookForReleases, {}, { hostId, source: ROUTINE, now })

/** The same without a user who waits, so it is retried for some hours. */
export const lookForReleasesNightly = durableWith<HostServices>()({
  name: 'cms.look_for_releases_nightly',
  input: Type.Object({}),
  on: 'host',
  changeableBy: 'account',
  attempts: 6,
  backoff: { firstMs: 600_000, mostMs: 3_600_000 },
  steps: { look: { run: lookThoroughly } },
})

/** Requests a check from a host, at some time of the night. */
export const planNightlyLook = durable({
  name: 'cms.plan_look',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    ask: {
      async commit(tx: Tx, { now }: StepContext) {
        const hostId = await hostToAsk(tx, lookForReleasesNightly.name)
        if (hostId === undefined) return
        const afterMs = randomInt(SPREAD_MS)
        await enqueue(tx, lookForReleasesNightly, {}, { hostId, afterMs, source: ROUTINE, now: now() })
      },
    },
  },
})

/** Runs each night and once more by day, because a security release should be everywhere within a day. */
export const lookTwiceADay = schedule({
  name: 'cms.plan_look',
  everyMs: 43_200_000,
  definition: planNightlyLook,
  input: () => ({}),
})

/** @returns whether any source has answered */
async function look({ services, signal, transaction, now, log }: StepContext<object, HostServices>): Promise<boolean> {
  const offers = await services.cores.offers({ signal }).catch((error) => {
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
  const isAnswered = offers.some(({ isOffered }) => isOffered)
  await transaction(async (tx) => {
    // Without an answer, yesterday's offers are assumed to be still valid.
    if (isAnswered || (await knownReleases(tx)).length === 0) await replaceReleases(tx, offers, now())
  })
  if (isAnswered)
    log.info({ stable: newest(offers, 'stable'), beta: newest(offers, 'beta') }, 'looked for releases of WordPress')
  return isAnswered
}

async function lookThoroughly(context: StepContext<object, HostServices>): Promise<void> {
  const isAnswered = await look(context).catch((error) => {
    throw error instanceof PermanentFailure ? new Error(error.message) : error
  })
  if (!isAnswered) throw new Error('No source lists the releases of WordPress')
}

const newest = (offers: readonly CoreOffer[], wanted: CoreOffer['kind']): string | undefined =>
  offers
    .filter(({ kind, isOffered }) => kind === wanted && isOffered)
    .map(({ version }) => version)
    .toSorted(compareVersions)
    .at(-1)
