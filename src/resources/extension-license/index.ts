import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { dropCopiedLicense } from './copied-license.ts'
import { deleteLicenseOfSite } from './license.store.ts'
import { writeLicense } from './write-license.job.ts'

export const extensionLicense = resource({
  tag: { name: 'Extension-license', description: "License for extensions, stored in the site's options table" },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { live: dropCopiedLicense, forgotten: deleteLicenseOfSite },
  jobs: { host: [writeLicense] },
  actions,
})
