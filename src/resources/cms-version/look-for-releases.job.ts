import Type from 'typebox'
import { CoreUnavailable } from '../../hosting/core-library/core-library.ts'
import type { Tx } from '../../platform/db/database.ts'
import { durableWith, PermanentFailure, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import type { HostServices } from '../host-services.ts'
import type { Site } from '../sites/site.ts'
import { replaceReleases } from './release.store.ts'

/** Asks where releases of WordPress come from which there are. */
export const lookForReleases = durableWith<HostServices>()({
  name: 'cms.look_for_releases',
  input: Type.Object({}),
  on: 'host',
  changeableBy: 'account',
  attempts: 1,
  steps: { look: { run: look } },
})

/** Somebody waits for it; it is about no site, and nobody sees it. */
export const askForReleases = (tx: Tx, { hostId }: Pick<Site, 'hostId'>, now: number): Promise<number> =>
  enqueue(tx, lookForReleases, {}, { hostId, source: ROUTINE, now })

async function look({ services, signal, transaction, now }: StepContext<object, HostServices>): Promise<void> {
  const offers = await services.cores.offers({ signal }).catch((error) => {
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
  await transaction((tx) => replaceReleases(tx, offers, now()))
}
