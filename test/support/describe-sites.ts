import { describe, test } from 'vitest'
import { testCore } from './core.ts'
import { nativeAndMariaDb } from './native-mariadb.ts'

const core = await testCore()

/** What runs the sites of a whole installation. */
export interface SitesOn {
  readonly isNative: boolean
  /** Settings with which all new sites are made on it. */
  readonly env: Readonly<Record<string, string>>
  /**
   * A test whose subject does not depend on what runs the sites, so once is enough: on native PHP where this machine has it, since its
   * pages cost a tenth.
   */
  readonly testOnce: ReturnType<typeof test.runIf>
  /** The same for a part of a test. */
  readonly isOnce: boolean
}

const kinds: readonly (Omit<SitesOn, 'testOnce' | 'isOnce'> & { name: string; skip: boolean })[] = [
  // a whole run on native PHP has that in all tests
  { name: 'WebAssembly and SQLite', isNative: false, env: {}, skip: process.env.TEST_RUNTIME === 'native' },
  {
    name: 'native PHP and MariaDB',
    isNative: true,
    env: { STEAD_RUNTIME: 'native', STEAD_MARIADB: 'own' },
    skip: nativeAndMariaDb.skip,
  },
]

/** Tests that go through sites, once on each of what can run them; where this machine lacks one they are listed as skipped. */
export function describeSites(what: string, suite: (on: SitesOn) => void, { skip = false } = {}): void {
  for (const { name, skip: isLacking, ...on } of kinds) {
    const isOnce = on.isNative || nativeAndMariaDb.skip
    const testOnce = test.runIf(isOnce)
    describe.skipIf(!core || skip || isLacking)(`${what}, on ${name}`, () => suite({ ...on, testOnce, isOnce }))
  }
}
