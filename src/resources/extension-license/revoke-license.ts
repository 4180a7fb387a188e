import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../endpoint.ts'
import { SiteId } from '../site-id.ts'
import { problems as siteProblems } from '../sites/problems.ts'
import { demandInstalled } from '../sites/site.ts'
import { waitForOperation } from '../wait-for-operation.ts'
import { actions } from './actions.ts'
import { findLicense, markRevoked } from './license.store.ts'
import { writeLicense } from './write-license.job.ts'

export const revokeExtensionLicense = endpoint({
  id: 'revokeExtensionLicense',
  method: 'DELETE',
  path: '/v1/sites/{site_id}/ext',
  summary: 'Revoke the extension license',
  description:
    "Answers when the key is out of the site's options table; it stays readable here, with the time of its end. A new one is " +
    'issued by the next POST. Where there is none, nothing changes; one that is revoked is taken out again.',
  access: { site: 'manage plugins' },
  params: Type.Object({ site_id: SiteId }),
  response: Nothing,
  starts: true,
  problems: [siteProblems.site_not_live, siteProblems.site_cannot, siteProblems.site_unavailable],

  async handle(context) {
    const { tx, site, now } = context
    demandInstalled(site)
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
