import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { backupStorage } from '../../resources/kit/open-backups.ts'
import { readJoined } from '../certificates/join.ts'
import { type Check, ok, problem, skipped } from './check.ts'

const PATIENCE_MS = 10_000
const CONTENT = Buffer.from('stead doctor')

/** Checks that backups can be written, read, and removed. */
export const storageCheck: Check = {
  area: 'storage',
  async run({ config, asksOutside }) {
    const isBucket = config.backupS3Bucket !== undefined
    const folder = config.backupDir ?? join(config.dataDir, 'backups')
    if (isBucket && !asksOutside) return []
    if (!isBucket && config.backupDir === undefined && (await readJoined(config.dataDir))?.storage)
      return [skipped('This host has no credentials of the storage for backups. Run stead doctor on a control.')]
    // The check of the disk reports problems of a folder.
    if (!isBucket)
      return existsSync(folder)
        ? [ok(`Backups are stored in ${folder}.`)]
        : [skipped(`The first backup creates ${folder}.`)]
    const storage = backupStorage(config)
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      const name = `checks/${randomUUID()}`
      await storage.put(name, CONTENT, signal)
      const read = await storage.get(name, undefined, signal)
      await storage.remove([name], signal)
      if (read?.equals(CONTENT)) return [ok(`Stead can write backups to ${storage.where} and read them.`)]
      return [
        problem(
          `${storage.where} returns different data than Stead wrote.`,
          'Use another storage: STEAD_BACKUP_S3_ENDPOINT.',
        ),
      ]
    } catch (error) {
      const why =
        (error as Error).name === 'TimeoutError'
          ? `${storage.where} did not respond within 10 seconds`
          : (error as Error).message
      const remedy = 'Check the STEAD_BACKUP_S3 settings and the rights of the access key.'
      return [problem(`Stead cannot write backups: ${why}.`, remedy)]
    }
  },
}
