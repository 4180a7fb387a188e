import type { TestApi } from '../../../test/support/api.ts'
import type { CoreOffer } from '../../hosting/core-library/core-library.ts'
import { replaceReleases } from './release.store.ts'

/** Returns a release that a source offers. */
export const madeOffer = (version: string, phpVersion: string | null = null): CoreOffer => ({
  ...{ version, phpVersion },
  kind: version.includes('-') ? 'beta' : 'stable',
  isOffered: true,
})

/** Stores releases as if a host had just found them. */
export const withReleases = ({ database }: TestApi, ...versions: string[]): Promise<void> =>
  database.transaction((tx) => {
    const offers = versions.map((version) => madeOffer(version))
    return replaceReleases(tx, offers, Date.now())
  })
