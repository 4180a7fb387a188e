import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { findLicense, markRevoked } from './license.store.ts'
import { writeLicense } from './write-license.job.ts'

export const revokeExtensionLicense = endpoint({
  id: 'revokeExtensionLicense',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/ext',
  summary: 'Revoke the extension license',
  description:
    "Removes the key from the site's options table and waits until it is gone. You can still read the license, with the time of its revocation. The next POST " +
    'issues a new license. Without a license, nothing changes. If the license is already revoked, Stead removes the key again.',
  access: { site: 'manage plugins' },
  params: Type.Object({ site_id: SiteId }),
  response: Nothing,
  starts: true,
  problems: [siteProblems.site_not_live, siteProblems.site_cannot, siteProblems.site_unavailable],

  async handle(context) {
    const { tx, site, now } = context
    requireInstalled(site)
    const license = await findLicense(tx, site.id)
    if (!license) return null
    await markRevoked(tx, site.id, now)
    await context.start(writeLicense, { siteId: site.id })
    if (license.revokedAt === null)
      await context.record({ action: actions['extension_license.revoked'], message: 'Revoked the extension license' })
    return null
  },

  async afterCommit(context) {
    if (context.started.length > 0) await waitForOperation(context)
  },
})
