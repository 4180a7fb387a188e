import { userInfo } from 'node:os'
import { join } from 'node:path'
import { CoreUnavailable, createCoreLibrary } from '../../src/hosting/core-library/core-library.ts'
import { keptDir } from './kept.ts'

/**
 * Returns a folder with an unpacked WordPress for tests, or undefined when no source can be reached. Downloads it once
 * for a machine and user, however many test processes ask at once. TEST_WORDPRESS_CORE names another folder. Never
 * write to it.
 */
export async function testCore(): Promise<string | undefined> {
  if (process.env.TEST_WORDPRESS_CORE) return process.env.TEST_WORDPRESS_CORE
  const library = createCoreLibrary({
    dataDir: join(keptDir(), `stead-test-core-${userInfo().uid}`),
    coreSource: undefined,
    wordpressApi: undefined,
    allowPrivate: false,
    log: { info: () => {}, warn: () => {} },
    latestForMs: 30 * 24 * 3_600_000,
  })
  try {
    return (await library.ensure('latest')).path
  } catch (error) {
    if (error instanceof CoreUnavailable) return undefined
    throw error
  }
}
