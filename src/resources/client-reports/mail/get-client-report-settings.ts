import Type from 'typebox'
import { endpoint } from '../../kit/endpoint.ts'
import { SiteId } from '../../kit/site-id.ts'
import { ClientReportSettings, presentReportSettings } from './client-report-settings.ts'

export const getClientReportSettings = endpoint({
  id: 'getClientReportSettings',
  method: 'GET',
  path: '/v1/sites/{id}/client-report-settings',
  summary: 'Get who receives the client reports of a site',
  description: 'An addition of Stead. Returns the recipients, and the newest mails with reports.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  response: ClientReportSettings,
  etag: true,

  handle: async ({ tx, site }) => presentReportSettings(tx, site.id),
})
