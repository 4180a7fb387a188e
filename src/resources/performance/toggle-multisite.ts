import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { type Account, capacityOfAccount, findAccount } from '../account/public.ts'
import { Switch } from '../caches/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { configureSite, presentSite, SiteSchema, problems as siteProblems, switchSetting } from '../sites/public.ts'
import { actions } from './actions.ts'

export const toggleMultisite = endpoint({
  id: 'toggleMultisite',
  method: 'PUT',
  path: '/v1/sites/{id}/multisite-support',
  summary: 'Turn multisite support on or off',
  description:
    'Turning it on makes the site a network with sites in subdirectories. Turning it off removes the network constants from the ' +
    "site's configuration but keeps the data of the network. A background operation applies the change. Toggles the state, " +
    'or sets it to `enabled` if the body contains that field.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  body: Switch,
  response: SiteSchema,
  starts: true,
  problems: [siteProblems.plan_lacks_multisite],

  async handle(context, { body }) {
    const { tx, site, config, now } = context
    const { enabled, changed } = await switchSetting(tx, site.id, 'multisite', body.enabled, now)
    if (changed) {
      if (enabled) await checkPlan(tx, site.accountId)
      const [action, word] = enabled
        ? ([actions['wordpress.multisite.enabled'], 'Enabled'] as const)
        : ([actions['wordpress.multisite.disabled'], 'Disabled'] as const)
      await context.record({ action, message: `${word} multisite support` })
      await context.start(configureSite, { siteId: site.id })
    }
    return presentSite({ ...site, hasMultisite: enabled }, config, now)
  },
})

/** The plan of the site's owner counts, not the caller's. */
async function checkPlan(tx: Parameters<typeof findAccount>[0], accountId: number): Promise<void> {
  const plan = await capacityOfAccount(tx, (await findAccount(tx, accountId)) as Account)
  if (!plan.multisite) throw new Problem(siteProblems.plan_lacks_multisite, { plan: plan.name })
}
