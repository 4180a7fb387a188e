import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { forgetChecks } from './check.store.ts'
import { checkDomain, checkDomains, checkDomainsOften } from './check-domains.job.ts'
import { forgetClaims } from './claim.store.ts'
import { completeClaims, completeClaimsOften } from './complete-claims.job.ts'
import { forgetDomainsOf } from './forget-account.ts'
import { problems } from './problems.ts'

export const domains = resource({
  tag: { name: 'Domains', description: 'Host names of a site' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: {
    async forgotten(tx, siteId) {
      await forgetChecks(tx, siteId)
      await forgetClaims(tx, siteId)
    },
  },
  accountHooks: { forgotten: forgetDomainsOf },
  jobs: { control: [checkDomain, checkDomains, completeClaims] },
  schedules: [checkDomainsOften, completeClaimsOften],
  problems,
  actions,
  events,
})
