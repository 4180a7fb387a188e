import { findNativePhp } from '../../src/hosting/php/native/native-php.ts'
import { findMissing } from '../../src/hosting/php/native/start.ts'
import { defaultPhpVersion, type PhpVersion, phpVersions } from '../../src/hosting/php/runtime.ts'
import { findAbilities } from '../../src/hosting/php/wasm/containment.ts'
import { testUid } from './site-directory.ts'

/** A PHP runtime, and what it runs here. */
export interface TestedRuntime {
  readonly runtime: 'wasm' | 'native'
  /** For a test that needs only one. */
  readonly phpVersion: PhpVersion
  readonly versions: readonly PhpVersion[]
  /** This machine does not have it. */
  readonly skip: boolean
}

const lacksNative = await findMissing('auto')
const foundNative = await Promise.all(
  phpVersions.map(async (version) => ('missing' in (await findNativePhp(version)) ? [] : [version])),
)
const nativeVersions = lacksNative === undefined ? foundNative.flat() : []

const native: TestedRuntime = {
  runtime: 'native',
  phpVersion: nativeVersions.at(-1) ?? defaultPhpVersion,
  versions: nativeVersions,
  skip: nativeVersions.length === 0,
}
const wasm: TestedRuntime = { runtime: 'wasm', phpVersion: defaultPhpVersion, versions: phpVersions, skip: false }

/** Both runtimes. Tests of a runtime's behavior run on each. */
export const runtimes: readonly TestedRuntime[] = [wasm, native]

/** The runtimes that this machine has, and those that it lacks. */
export const [hereRuntimes, lackingRuntimes] = [
  runtimes.filter(({ skip }) => !skip),
  runtimes.filter(({ skip }) => skip),
]

/** One way in which a machine can contain sites. */
export interface Way extends TestedRuntime {
  readonly way: string
  readonly sandbox: 'bubblewrap' | 'none'
  /** Other users can enter the folders above a site directory, as in a data folder. */
  readonly isOpen: boolean
  /** The owner of a site's files and process; null: Stead's user. */
  readonly uid: number | null
}

const isRoot = testUid !== null
const hasBubblewrap = (await findAbilities('auto')).bubblewrap !== undefined

/**
 * All ways that this user can test. `test/faults/plain-user.test.ts` repeats tests that use it, as a user without
 * privileges.
 */
export const ways: readonly Way[] = isRoot
  ? [
      { ...wasm, way: 'as root, bubblewrap', sandbox: 'bubblewrap', isOpen: false, uid: testUid, skip: !hasBubblewrap },
      { ...wasm, way: 'as root, a user of its own a site', sandbox: 'none', isOpen: true, uid: testUid, skip: false },
      { ...wasm, way: 'as root, Node’s permissions', sandbox: 'none', isOpen: false, uid: null, skip: false },
      { ...native, way: 'as root, php-fpm', sandbox: 'bubblewrap', isOpen: false, uid: testUid },
    ]
  : [
      {
        ...wasm,
        way: 'as a plain user, bubblewrap',
        sandbox: 'bubblewrap',
        isOpen: false,
        uid: null,
        skip: !hasBubblewrap,
      },
      { ...wasm, way: 'as a plain user, Node’s permissions', sandbox: 'none', isOpen: false, uid: null, skip: false },
    ]
