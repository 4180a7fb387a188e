import { resource } from '../resource.ts'
import { actions, events } from './actions.ts'
import { forgetChecks } from './check.store.ts'
import { checkDomain, checkDomains, checkDomainsOften } from './check-domains.job.ts'
import { forgetClaims } from './claim.store.ts'
import { problems } from './problems.ts'
import { settleClaims, settleClaimsOften } from './settle-claims.job.ts'

export const domains = resource({
  tag: { name: 'Domains', description: 'Host names of a site' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: {
    async forgotten(tx, siteId) {
      await forgetChecks(tx, siteId)
      await forgetClaims(tx, siteId)
    },
  },
  jobs: { control: [checkDomain, checkDomains, settleClaims] },
  schedules: [checkDomainsOften, settleClaimsOften],
  problems,
  actions,
  events,
})
