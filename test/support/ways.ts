import { findAbilities } from '../../src/hosting/php/wasm/containment.ts'
import { testUid } from './home.ts'

/** One of the ways in which a machine can contain sites. */
export interface Way {
  readonly way: string
  readonly sandbox: 'bubblewrap' | 'none'
  /** The folders above a home can be passed through by other users, as in a data folder. */
  readonly isOpen: boolean
  /** Whom a site's files and process belong to; null: the user of Stead. */
  readonly uid: number | null
  /** This machine cannot do it. */
  readonly skip: boolean
}

const isRoot = testUid !== null
const hasBubblewrap = (await findAbilities('auto')).bubblewrap !== undefined

/** All that this user can try; `test/faults/plain-user.test.ts` runs the tests that use it once more, as a user without rights. */
export const ways: readonly Way[] = isRoot
  ? [
      { way: 'as root, bubblewrap', sandbox: 'bubblewrap', isOpen: false, uid: testUid, skip: !hasBubblewrap },
      { way: 'as root, a user of its own a site', sandbox: 'none', isOpen: true, uid: testUid, skip: false },
      { way: 'as root, Node’s permissions', sandbox: 'none', isOpen: false, uid: null, skip: false },
    ]
  : [
      { way: 'as a plain user, bubblewrap', sandbox: 'bubblewrap', isOpen: false, uid: null, skip: !hasBubblewrap },
      { way: 'as a plain user, Node’s permissions', sandbox: 'none', isOpen: false, uid: null, skip: false },
    ]
