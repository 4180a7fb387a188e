import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StageOptions } from '../../hosting/site-imports/stage-files.ts'
import { PartDoor } from '../../hosting/site-imports/upload-parts.ts'
import { keptFromSites } from '../../platform/files/free-room.ts'
import type { HostServices } from '../kit/host-services.ts'
import { knownStaged } from './import.store.ts'

/** Limit of files and folders after unpacking. */
const MOST_ENTRIES = 500_000

const allOf = (dataDir: string): string => join(dataDir, 'imports')

/** Returns where the data of an import is on its host. Only Stead has access. */
export const folderOf = (dataDir: string, importId: number): string => join(allOf(dataDir), String(importId))
/** The folders below it, for fetched and for uploaded data. */
export const fetchedIn = (folder: string): string => join(folder, 'fetched')
export const uploadedIn = (folder: string): string => join(folder, 'uploaded')

/** Returns the limits of staging. */
export const stagingBounds = ({ importMaxMb, diskReserveMb }: HostServices['config']) =>
  ({
    maxBytes: importMaxMb * 2 ** 20,
    maxEntries: MOST_ENTRIES,
    keepFreeBytes: keptFromSites(diskReserveMb << 20),
  }) satisfies Omit<StageOptions, 'signal'>

/** Opens the receiver of client uploads on the host of their site. */
export const openUploads = ({ dataDir, diskReserveMb }: HostServices['config']): PartDoor =>
  new PartDoor({
    folderOf: (importId) => uploadedIn(folderOf(dataDir, importId)),
    keepFreeBytes: keptFromSites(diskReserveMb << 20),
  })

/** Removes leftovers of imports that no record knows because their sites were deleted. */
export async function removeForgotten({ config, database }: HostServices): Promise<void> {
  const names = await readdir(allOf(config.dataDir)).catch(() => [])
  const ids = names.map(Number).filter(Number.isSafeInteger)
  const known = await knownStaged(database.read, ids)
  for (const id of ids) if (!known.has(id)) await rm(folderOf(config.dataDir, id), { recursive: true, force: true })
}
