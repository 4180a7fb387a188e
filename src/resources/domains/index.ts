import { resource } from '../resource.ts'
import { actions, events } from './actions.ts'
import { forgetChecks } from './check.store.ts'
import { checkDomain, checkDomains, checkDomainsOften } from './check-domains.job.ts'
import { problems } from './problems.ts'

export const domains = resource({
  tag: { name: 'Domains', description: 'Host names that lead to a site' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: forgetChecks },
  jobs: { control: [checkDomain, checkDomains] },
  schedules: [checkDomainsOften],
  problems,
  actions,
  events,
})
