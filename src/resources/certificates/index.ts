import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { deleteNamesOfSite } from './certificate.store.ts'
import { wantFirstAddress } from './first-addresses.ts'
import { orderCertificate } from './order-certificate.job.ts'
import { planCertificates, planCertificatesOften } from './plan-certificates.job.ts'

/** Certificates of the names of sites: ordered, validated at the edge, renewed. */
export const certificates = resource({
  jobs: { control: [orderCertificate, planCertificates] },
  schedules: [planCertificatesOften],
  siteHooks: {
    async ordered(tx, site, { config, now }) {
      await wantFirstAddress(tx, site, config, now)
      return {}
    },
    forgotten: deleteNamesOfSite,
  },
  actions,
})
