import Type from 'typebox'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { LicenseSchema, presentLicense } from '../sites/public.ts'
import { findLicense } from './license.store.ts'

export const getExtensionLicense = endpoint({
  id: 'getExtensionLicense',
  method: 'GET',
  path: '/v1/sites/{site_id}/ext',
  summary: 'Get the extension license',
  description: 'Returns the newest license, even if it was revoked.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId }),
  response: LicenseSchema,
  etag: true,

  async handle({ tx, site }) {
    const license = await findLicense(tx, site.id)
    return license ? presentLicense(license) : null
  },
})
