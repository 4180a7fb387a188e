import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { safeUpdateSettingsOf } from './safe-update-settings.store.ts'
import { presentSafeUpdateSettings, SafeUpdateSettingsSchema } from './safe-update-settings.ts'

export const getSafeUpdateSettings = endpoint({
  id: 'getSafeUpdateSettings',
  method: 'GET',
  path: '/v1/sites/{id}/safe-update-settings',
  summary: 'Get the safe update settings of a site',
  description:
    'An addition of Stead. Returns which elements the pictures of all safe updates leave out, and which pages they compare, too.',
  access: { site: 'manage plugins' },
  params: Type.Object({ id: SiteId }),
  response: SafeUpdateSettingsSchema,
  etag: true,

  handle: async ({ tx, site }) => presentSafeUpdateSettings(await safeUpdateSettingsOf(tx, site.id)),
})
