import { api, ask } from '../api.ts'
import { session } from '../session.ts'

/** Opens the WordPress admin of a site with a link that signs in and works once. */
export async function openLogin(id: number): Promise<void> {
  const body = { email: session.value?.email ?? '', user_agent: navigator.userAgent }
  const params = { path: { site_id: id } }
  const { data } = await ask(() => api.POST('/v1/sites/{site_id}/one_time_login', { params, body }))
  open(data.url, '_blank', 'noopener')
}
