import { DAY_MS } from '../platform/durations.ts'
import { inParallel } from '../platform/in-parallel.ts'
import { BackupDamaged } from './backup-store.ts'
import type { RepositoryKeys } from './format/keys.ts'
import { lastPart } from './format/object-names.ts'
import { listBackupObjects, readManifest } from './reading/manifests.ts'
import type { Storage } from './storage/storage.ts'

/*
 * A control removes objects for a host without credentials of the storage. A host that was taken over asks for all of
 * its backups. So the rules rely on nothing that a host can change later: the times of the storage, and the headers of
 * backups, which are written once.
 */

/** A part of the names of objects of one owner. */
export type ObjectPart = 'packs' | 'indexes' | 'backups' | 'marks'

export interface ObjectPlace {
  readonly owner: string
  readonly part: ObjectPart
  /** The part of the name after the last `/`. */
  readonly last: string
}

const patterns: Readonly<Record<ObjectPart, RegExp>> = {
  packs: /^[0-9a-f]{32}$/,
  indexes: /^[0-9a-f]{32}$/,
  backups: /^[a-z0-9-]{1,100}\.(tree|stream)$/,
  marks: /^[0-9a-f]{32}-\d{1,15}-(unneeded|damaged)$/,
}

/** Returns the place of an object of a repository. @returns undefined for any other name */
export function placeOfObject(name: string): ObjectPlace | undefined {
  const [owner = '', part = '', last = '', ...rest] = name.split('/')
  const pattern = Object.hasOwn(patterns, part) ? patterns[part as ObjectPart] : undefined
  return rest.length === 0 && pattern?.test(last) ? { owner, part: part as ObjectPart, last } : undefined
}

/** Backups are removed at once if their writer just wrote them, because they are damaged, for example. */
const NEW_MS = 3_600_000
/**
 * How long backups stay without a request of a user, in milliseconds. None expires earlier than after 7 days. A day is
 * for the clocks of storage and controls.
 */
export const KEPT_FROM_HOSTS_MS = 6 * DAY_MS
/** The most headers that are read for one question. A site has about 300. */
const MOST_HEADERS = 5_000
const AT_ONCE = 8

interface Repository {
  readonly storage: Storage
  readonly keys: RepositoryKeys
  /** Milliseconds UTC. */
  readonly now: number
  /** Returns whether a user asked for the removal of a backup, whose id is given. */
  readonly isWanted: (backupId: number) => Promise<boolean>
}

/**
 * Returns which objects of a repository may go. Backups of the last days stay, and so does each pack that the header of
 * a backup names, until that backup is gone. A sweep on a host can move the content of packs, and names them for
 * removal. Whether the copy is whole, only the host knows.
 */
export async function removableOf(names: readonly string[], repository: Repository): Promise<string[]> {
  const found: string[] = []
  const places = names.map((name) => ({ name, part: placeOfObject(name)?.part }))
  const asked = (part: ObjectPart) => places.filter((each) => each.part === part).map(({ name }) => name)
  found.push(...asked('marks'), ...asked('indexes'))
  const [backups, packs] = [asked('backups'), asked('packs')]
  if (backups.length > 0) found.push(...(await removableBackups(backups, repository)))
  if (packs.length > 0) {
    const named = await namedPacks(repository)
    if (named) found.push(...packs.filter((name) => !named.has(lastPart(name))))
  }
  return found
}

async function removableBackups(names: readonly string[], repository: Repository): Promise<string[]> {
  const { storage, keys, now, isWanted } = repository
  const times = new Map(
    (await storage.list(`${keys.owner}/backups/`)).map(({ name, modifiedAt }) => [name, modifiedAt]),
  )
  const found: string[] = []
  for (const name of names) {
    const modifiedAt = times.get(name) ?? now
    const [, id] = /^b(\d{1,15})(-[0-9a-f]{16})?\.(tree|stream)$/.exec(lastPart(name)) ?? []
    const age = now - modifiedAt
    // Others are copies that an operation needs while it runs, and not backups of users.
    if (id === undefined || age < NEW_MS || age >= KEPT_FROM_HOSTS_MS || (await isWanted(Number(id)))) found.push(name)
  }
  return found
}

/** Returns the packs that backups name. @returns undefined if that cannot be determined */
async function namedPacks({ storage, keys }: Repository): Promise<ReadonlySet<string> | undefined> {
  const named = new Set<string>()
  const objects = await listBackupObjects({ storage, keys })
  if (objects.length > MOST_HEADERS) return undefined
  try {
    await inParallel(AT_ONCE, objects, async ({ name, kind }) => {
      const manifest = await readManifest({ storage, keys }, name, kind)
      for (const pack of manifest ? [...manifest.packs, ...manifest.leansOn] : []) named.add(pack)
    })
  } catch (error) {
    if (error instanceof BackupDamaged) return undefined
    throw error
  }
  return named
}
