import { describe, test } from 'vitest'
import { testCore } from './core.ts'
import { nativeAndMariaDb } from './native-mariadb.ts'

const core = await testCore()

/** The runtime and the database of all sites in an installation. */
export interface SitesOn {
  readonly isNative: boolean
  /** Settings that create all new sites with them. */
  readonly env: Readonly<Record<string, string>>
  /**
   * For a subject that does not depend on the runtime, so that once is enough: on native PHP where it is installed,
   * because its pages cost a tenth.
   */
  readonly testOnce: ReturnType<typeof test.runIf>
  /** The same for a part of a test. */
  readonly isOnce: boolean
}

const kinds: readonly (Omit<SitesOn, 'testOnce' | 'isOnce'> & { name: string; skip: boolean })[] = [
  // a whole run on native PHP covers that in all tests
  { name: 'WebAssembly and SQLite', isNative: false, env: {}, skip: process.env.TEST_RUNTIME === 'native' },
  {
    name: 'native PHP and MariaDB',
    isNative: true,
    env: { STEAD_RUNTIME: 'native', STEAD_MARIADB: 'own' },
    skip: nativeAndMariaDb.skip,
  },
]

/** Runs tests of sites once for each runtime and database. Lists those that this machine lacks as skipped. */
export function describeSites(what: string, suite: (on: SitesOn) => void, { skip = false } = {}): void {
  for (const { name, skip: isLacking, ...on } of kinds) {
    const isOnce = on.isNative || nativeAndMariaDb.skip
    const testOnce = test.runIf(isOnce)
    describe.skipIf(!core || skip || isLacking)(`${what}, on ${name}`, () => suite({ ...on, testOnce, isOnce }))
  }
}
