import { hostBudgets } from '../../../src/budgets.ts'
import { readConfig } from '../../../src/config.ts'

/** The most that a host may keep in temporary files, by its table of budgets. */
const temporaryMb =
  Object.values(hostBudgets(readConfig({})))
    .filter(({ name }) => name === 'answer_disk' || name === 'body_disk')
    .reduce((sum, { all }) => sum + all, 0) /
  2 ** 20

/** What Stead promises during a siege. The run is judged by this table, and `docs/design/faults.md` shows it. */
export const bounds = {
  /** For the ninth site, from the edge cache. */
  cachedMs: 100,
  /** For the ninth site, from its PHP. */
  uncachedMs: 5000,
  /** For the ninth site's owner: a site, a note written, two lists. */
  apiMs: 1000,
  /** For the ninth site's PHP: until the name server gets the query. */
  nameMs: 5000,
  /**
   * The share of the samples of each kind that must be within its limit, all with the right answer: a machine has
   * delays of its own.
   */
  share: 0.98,
  /** Sum of the proportional set sizes (Pss), MB. */
  memoryMb: {
    supervisor: 100,
    control: 400,
    host: 400,
    edge: 450,
    /** `STEAD_PHP_MEMORY_MB`, and what a process may allocate between two checks. */
    php: 1300 + 400,
  },
  /** Request bodies and everything else in the temporary folder, MB. */
  temporaryMb,
  /** Always free on the disk of the data folder, MB, so that signing in, deleting, and writing rows still work. */
  freeDiskMb: 16,
} as const

/** More than this ends the run, to protect the machine. MB. */
export const killSwitchMb = 6000

/** Sizes of Stead's disks, for its data folder and for temporary files. */
export const diskMb = 1500
export const temporaryDiskMb = 5000
