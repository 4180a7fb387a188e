import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BackupStore } from '../../backups/backup-store.ts'
import type { CoreSource } from '../../hosting/core-library/core-source.ts'
import { CORE_BACKUP, coreOwner } from '../backups/backup.ts'

/**
 * A release as backups of sites have kept it, for when nobody has it any more. They keep what sites share (`wp-admin`, `wp-includes`); what a site has
 * of its own is in the site's backup, and what else belongs to a release is taken from one that is here.
 * @param like finds the folder of a release that is here
 */
export function keptCore(backups: BackupStore, like: () => Promise<string>): CoreSource {
  return {
    name: 'the backups',
    identity: async () => 'backups',
    versions: async () => [],
    async find(version, { signal }) {
      const repository = backups.repository(coreOwner(version))
      if (!(await repository.find(CORE_BACKUP))) throw new Error('no backup contains a site with this version')
      return {
        version,
        async unpack(into) {
          await mkdir(into)
          for await (const entry of repository.entries(CORE_BACKUP)) {
            signal?.throwIfAborted()
            const path = join(into, entry.path)
            if (entry.kind === 'folder') await mkdir(path, { recursive: true })
            if (entry.kind === 'file') await writeFile(path, repository.readFile(entry))
          }
          const likePath = await like()
          for (const name of await readdir(likePath))
            if (name !== 'wp-admin' && name !== 'wp-includes')
              await cp(join(likePath, name), join(into, name), { recursive: true })
        },
      }
    },
  }
}
