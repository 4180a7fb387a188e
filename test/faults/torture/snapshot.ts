import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import type { Ground } from './ground.ts'

type Place = Pick<Ground, 'stead' | 'cluster'>

/** Copies the database while Stead runs. */
export async function takeSnapshot({ stead, cluster }: Place, file: string): Promise<void> {
  if (cluster) return cluster.dump(file)
  const database = new DatabaseSync(join(stead.dataDir, 'stead.db'), { readOnly: true })
  try {
    await backup(database, file)
  } finally {
    database.close()
  }
}

/** Restores the copy. Stead must not run. */
export async function restoreSnapshot({ stead, cluster }: Place, file: string): Promise<void> {
  if (cluster) return cluster.restore(file)
  const database = new DatabaseSync(file)
  try {
    for (const ending of ['', '-wal', '-shm']) await rm(join(stead.dataDir, `stead.db${ending}`), { force: true })
    await backup(database, join(stead.dataDir, 'stead.db'))
    await chmod(join(stead.dataDir, 'stead.db'), 0o600)
  } finally {
    database.close()
  }
}
