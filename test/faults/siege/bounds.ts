import { hostBudgets } from '../../../src/budgets.ts'
import { readConfig } from '../../../src/config.ts'

/** What a host may keep in temporary files, by its table of budgets. */
const temporaryMb =
  Object.values(hostBudgets(readConfig({})))
    .filter(({ name }) => name === 'answer_disk' || name === 'body_disk')
    .reduce((sum, { all }) => sum + all, 0) /
  2 ** 20

/** What Stead promises while it is besieged. One table: the run is judged by it, and `docs/design/faults.md` shows it. */
export const bounds = {
  /** Of the ninth site, by the edge's cache. */
  cachedMs: 100,
  /** Of the ninth site, by its PHP. */
  uncachedMs: 5000,
  /** Of the ninth site's owner: a site, a note written, two lists. */
  apiMs: 1000,
  /** Of the ninth site's PHP: until the name server has been asked. */
  nameMs: 5000,
  /** So much of the samples of each kind must be within its bound, and none without a right answer: a machine has hiccups of its own. */
  share: 0.98,
  /** Sum of the proportional sizes (Pss), MB. */
  memoryMb: {
    supervisor: 100,
    control: 400,
    host: 400,
    edge: 450,
    /** `STEAD_PHP_MEMORY_MB`, and what a process may take between two looks at it. */
    php: 1300 + 400,
  },
  /** Bodies of requests and whatever else lies in the temporary folder, MB. */
  temporaryMb,
  /** Free at any time on the disk of the data folder, MB: signing in, deleting and writing records go on. */
  freeDiskMb: 16,
} as const

/** Above it the run is ended: the machine has other things to do. MB. */
export const killSwitchMb = 6000

/** Of the disks that Stead gets, for its data folder and for temporary files. */
export const diskMb = 1500
export const temporaryDiskMb = 5000
