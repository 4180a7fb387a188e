import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { bringMuPlugin, installMuPlugin, removeMuPlugin, updateMuPlugin } from './bring-mu-plugin.job.ts'
import { bringToSite } from './bring-to-site.job.ts'
import { fillSite, forgetMuPluginsOfSite } from './fill-site.ts'
import { deleteMuPluginsOfAccount } from './mu-plugin.store.ts'
import { problems } from './problems.ts'

export const mustUsePlugins = resource({
  tag: { name: 'Must-use-plugins', description: 'PHP files that run on all sites of an account' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { filled: fillSite, forgotten: forgetMuPluginsOfSite },
  accountHooks: { forgotten: (tx, { accountId }) => deleteMuPluginsOfAccount(tx, accountId) },
  jobs: { host: [installMuPlugin, updateMuPlugin, removeMuPlugin, bringMuPlugin, bringToSite] },
  problems,
  actions,
  events,
})
