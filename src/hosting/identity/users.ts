import { randomInt } from 'node:crypto'
import { mkdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile, type Unlock } from '../../platform/files/lock-file.ts'
import { OperatorError } from '../../platform/operator-error.ts'

/*
 * When Stead runs as root, each site directory has its own user. The users of one data folder are a range that no other
 * data folder of the machine uses. Two sites with one user could read each other's files, and would share the user's
 * limits.
 */

/** The most site directories that a data folder can ever have had. */
export const USERS = 1 << 20
/**
 * Above the range that systemd gives to containers (UIDS-GIDS of systemd), and below the ids that programs misread as
 * negative.
 */
const FIRST = 1_879_048_192
const RANGES = 256
/** Ids up to this one may be the system's own users. */
export const LAST_SYSTEM_USER = 100_000

/** A range of users that only this process uses until it is released. */
export interface TakenUsers {
  /** User 0 of the range installs templates. The others belong to site directories by number. */
  readonly first: number
  release(): void
}

/**
 * Returns a random range for a new folder.
 * @param random returns a whole number below the given one
 */
export const someUsers = (random: (below: number) => number = randomInt): number => FIRST + random(RANGES) * USERS

/**
 * The folder where processes of one machine find each other's locks. Like them, it disappears when the machine
 * restarts.
 */
export const LOCKS = '/run/stead'

/**
 * Takes the users of a data folder for the lifetime of the process.
 * @param own the folder's users; null if it has none yet, and gets a range that no process holds
 * @param locks undefined checks no other process (Stead does not run as root, and gives no users to site directories)
 * @param random see {@link someUsers}
 * @throws OperatorError when a running Stead uses them for another data folder
 */
export async function takeUsers(
  own: number | null,
  locks: string | undefined,
  random?: (below: number) => number,
): Promise<TakenUsers> {
  if (locks === undefined) return { first: own ?? someUsers(), release: () => {} }
  mkdirSync(locks, { recursive: true, mode: 0o700 })
  if (own !== null) {
    const release = await lockRange(locks, own, PREDECESSOR_GOES_MS)
    if (release) return { first: own, release }
    throw new OperatorError(
      `Another Stead on this server uses the users ${own} to ${own + USERS - 1} for its sites, as this data folder does. Usually ` +
        'one of the folders is a copy of the other. Stop the other Stead first, or run one of them in a container or on another server.',
    )
  }
  for (const first of leastRecentlyUsed(locks, random)) {
    const release = await lockRange(locks, first)
    if (release) return { first, release }
  }
  throw new OperatorError(
    `Too many data folders are in use on this server. Each needs separate users, and none are left.`,
  )
}

/**
 * Returns all ranges, the best for a new folder first: those not taken since the server started, then the one taken
 * longest ago. A stopped Stead holds no lock, and its users must be free when it starts again.
 */
function leastRecentlyUsed(locks: string, random?: (below: number) => number): number[] {
  const start = someUsers(random)
  const ranges = Array.from({ length: RANGES }, (_, at) => FIRST + ((start - FIRST + at * USERS) % (RANGES * USERS)))
  const takenAt = (first: number) => statSync(lockOf(locks, first), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const times = new Map(ranges.map((first) => [first, takenAt(first)]))
  return ranges.toSorted((a, b) => (times.get(a) ?? 0) - (times.get(b) ?? 0))
}

async function lockRange(locks: string, first: number, patienceMs = 0): Promise<Unlock | undefined> {
  const release = await lockFile(lockOf(locks, first), { patienceMs })
  if (release) utimesSync(lockOf(locks, first), new Date(), new Date())
  return release
}

/** The folder's last process holds the lock until the system has cleaned it up. */
const PREDECESSOR_GOES_MS = 2_000

const lockOf = (locks: string, first: number): string => join(locks, `users-${first}.lock`)
