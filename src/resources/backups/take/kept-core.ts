import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CoreSource } from '../../../hosting/core-library/core-source.ts'
import type { Template } from '../../../hosting/site-directories/template.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { CORE_BACKUP, coreOwner } from '../backup.ts'

/**
 * Returns a release from the backups of sites, for when it exists nowhere else. They contain what sites share
 * (`wp-admin`, `wp-includes`). A site's own files are in its backup, and the other files of a release come from one
 * that is present.
 */
export function keptCore({
  backups,
  template,
}: Pick<HostServices, 'backups'> & { template(): Promise<Pick<Template, 'corePath'>> }): CoreSource {
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
          const { corePath } = await template()
          for (const name of await readdir(corePath))
            if (name !== 'wp-admin' && name !== 'wp-includes')
              await cp(join(corePath, name), join(into, name), { recursive: true })
        },
      }
    },
  }
}
