import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { type Loaded, useLoad } from '../../../parts/use-load.ts'
import { type Detailed, type RestorePoint, restorePoints } from './restore-point.ts'

const hasDetails = (backup: components['schemas']['Backup']): backup is Detailed => backup.details !== undefined

/** The restore points of a site, newest first. */
export function useRestorePoints(id: number): Loaded<RestorePoint[]> {
  const params = { path: { site_id: id }, query: { include: 'details' as const } }
  return useLoad(async () => {
    const [files, databases] = await Promise.all([
      ask(() => api.GET('/v1/sites/{site_id}/backups/fs', { params })),
      ask(() => api.GET('/v1/sites/{site_id}/backups/db', { params })),
    ])
    return { data: restorePoints(files.data.filter(hasDetails), databases.data.filter(hasDetails)) }
  }, [id])
}
