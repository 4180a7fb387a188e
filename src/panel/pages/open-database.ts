import { api, ask } from '../api.ts'

/** Opens the database of a site in a new tab. The link works once. */
export async function openDatabase(id: number): Promise<void> {
  const { data } = await ask(() => api.GET('/v1/sites/{site_id}/cms/dbadmin', { params: { path: { site_id: id } } }))
  open(data, '_blank', 'noopener')
}
