import { findNativePhp } from '../../src/hosting/php/native/machine.ts'
import { findMissing } from '../../src/hosting/php/native/start.ts'
import { defaultPhpVersion, type PhpVersion, phpVersions } from '../../src/hosting/php/runtime.ts'
import { findAbilities } from '../../src/hosting/php/wasm/containment.ts'
import { testUid } from './site-directory.ts'

/** One of the two that run PHP, and what it runs here. */
export interface TestedRuntime {
  readonly runtime: 'wasm' | 'native'
  /** Of a test that needs one. */
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

/** Both; tests of what a runtime does run on each. */
export const runtimes: readonly TestedRuntime[] = [wasm, native]

/** Those that can be tried here, and those that cannot. */
export const [hereRuntimes, lackingRuntimes] = [
  runtimes.filter(({ skip }) => !skip),
  runtimes.filter(({ skip }) => skip),
]

/** One of the ways in which a machine can contain sites. */
export interface Way extends TestedRuntime {
  readonly way: string
  readonly sandbox: 'bubblewrap' | 'none'
  /** The folders above a site directory can be passed through by other users, as in a data folder. */
  readonly isOpen: boolean
  /** Whom a site's files and process belong to; null: the user of Stead. */
  readonly uid: number | null
}

const isRoot = testUid !== null
const hasBubblewrap = (await findAbilities('auto')).bubblewrap !== undefined

/** All that this user can try; `test/faults/plain-user.test.ts` runs the tests that use it once more, as a user without rights. */
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
