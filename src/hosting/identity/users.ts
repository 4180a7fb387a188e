import { randomInt } from 'node:crypto'
import { mkdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile, type Unlock } from '../../platform/files/lock-file.ts'
import { OperatorError } from '../../platform/operator-error.ts'

/*
 * Where Stead runs as root, each site directory of a site belongs to a user of its own. The users of one data folder are a range that no
 * other data folder of the machine uses: two sites with one user could read each other's files, and share what a user may use.
 */

/** As many site directories as a data folder can ever have had. */
export const USERS = 1 << 20
/** Above what systemd gives to containers (UIDS-GIDS of systemd), below where programs take ids for negative ones. */
const FIRST = 1_879_048_192
const RANGES = 256
/** Below it a system's own users may be. */
export const LAST_SYSTEM_USER = 100_000

/** A range of users, this process' alone until it is released. */
export interface TakenUsers {
  /** User 0 of the range is the one who installs templates, the others are those of site directories by number. */
  readonly first: number
  release(): void
}

/** The range of a new folder, any of them. @param random a whole number below the one that it is given */
export const someUsers = (random: (below: number) => number = randomInt): number => FIRST + random(RANGES) * USERS

/** Where processes of one machine find each other's locks; gone when it starts anew, as they are. */
export const LOCKS = '/run/stead'

/**
 * Takes the users of a data folder for as long as the process lives.
 * @param own the folder's; null: it has none yet, and gets a range that nobody holds
 * @param locks undefined: nobody else is asked (Stead does not run as root, and gives no users to site directories)
 * @param random as {@link someUsers} has it
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
 * All ranges, the best for a new folder first: those that nobody took since the server started, then the one that was taken longest
 * ago. A Stead that is stopped holds no lock, and must find its users free when it starts again.
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

/** The folder's last process holds the lock until the system has cleared it away. */
const PREDECESSOR_GOES_MS = 2_000

const lockOf = (locks: string, first: number): string => join(locks, `users-${first}.lock`)
