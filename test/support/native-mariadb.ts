import { findPrograms } from '../../src/hosting/mariadb/server/programs.ts'
import { runtimes } from './ways.ts'

const native = runtimes.find(({ runtime }) => runtime === 'native')
const hasMariaDb = await findPrograms().then(
  () => true,
  () => false,
)

/** Whether sites can run on both here, and with which PHP versions. */
export const nativeAndMariaDb = {
  skip: !native || native.skip || !hasMariaDb,
  versions: native?.versions ?? [],
  phpVersion: native?.phpVersion ?? '8.3',
} as const

/** Settings that create sites on both. */
export const settingsOf = { STEAD_RUNTIME: 'auto', STEAD_MARIADB: 'own' } as const
