import Type from 'typebox'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { waitForOperation } from '../kit/wait-for-operation.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { findLicense, insertLicense } from './license.store.ts'
import { newLicenseKey } from './license.ts'
import { writeLicense } from './write-license.job.ts'

export const issueExtensionLicense = endpoint({
  id: 'issueExtensionLicense',
  method: 'POST',
  path: '/v1/sites/{site_id}/ext',
  summary: 'Write the extension license to the site',
  description:
    'The first call issues a license. Later calls write the same key again until you revoke it. Waits until the option ' +
    "`stead_ext_license` in the site's options table contains the key.",
  access: { site: 'manage plugins' },
  params: Type.Object({ site_id: SiteId }),
  response: Nothing,
  starts: true,
  problems: [siteProblems.site_not_live, siteProblems.site_cannot, siteProblems.site_unavailable],

  async handle(context) {
    const { tx, site, now } = context
    requireInstalled(site)
    const license = await findLicense(tx, site.id)
    const isIssued = license !== undefined && license.revokedAt === null
    if (!isIssued) await insertLicense(tx, { siteId: site.id, licenseKey: newLicenseKey(), now })
    await context.start(writeLicense, { siteId: site.id })
    await context.record(
      isIssued
        ? { action: actions['extension_license.written'], message: 'Wrote the extension license again' }
        : { action: actions['extension_license.issued'], message: 'Issued an extension license' },
    )
    return null
  },

  afterCommit: (context) => waitForOperation(context),
})
