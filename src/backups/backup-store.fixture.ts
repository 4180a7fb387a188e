import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSealer } from '../platform/crypto/seal.ts'
import type { BackupStore } from './backup-store.ts'
import { openStore } from './open-store.ts'
import { folderStorage } from './storage/folder-storage.ts'
import type { Storage } from './storage/storage.ts'

export interface TestBackups {
  readonly backups: BackupStore
  readonly folder: string
  readonly storage: Storage
  close(): Promise<void>
}

export interface TestBackupsOptions {
  /** Milliseconds UTC, by default from the system's clock. */
  readonly now?: () => number
  /** Wraps the storage between the store and its folder. */
  readonly around?: (storage: Storage) => Storage
  /** A new folder by default. */
  readonly folder?: string
  /** The name of the installation's copy. */
  readonly holder?: string
}

/** Creates a store in a temporary folder. */
export async function testBackups({
  now,
  around = (it) => it,
  folder,
  holder = 'test',
}: TestBackupsOptions = {}): Promise<TestBackups> {
  const place = folder ?? (await mkdtemp(join(tmpdir(), 'stead-backups-')))
  const storage = around(folderStorage({ folder: place }))
  const sealer = createSealer(Buffer.alloc(32, 1))
  const key = async () => Buffer.alloc(32, 2)
  const backups = openStore({ storage, sealer, key, holder: async () => holder, ...(now && { now }) })
  return { backups, folder: place, storage, close: () => rm(place, { recursive: true, force: true }) }
}
