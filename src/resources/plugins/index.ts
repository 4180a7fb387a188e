import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import {
  activatePluginsJob,
  deactivatePluginsJob,
  deletePluginsJob,
  installPluginsJob,
  updatePluginsJob,
} from './change-plugins.job.ts'
import { listPluginsJob } from './list-plugins.job.ts'
import { deletePluginsOfSite } from './plugin.store.ts'
import { problems } from './problems.ts'

export const plugins = resource({
  tag: { name: 'Plugins', description: 'Plugins of a site' },
  endpoints: () => import('./endpoints.ts'),
  jobs: {
    host: [
      listPluginsJob,
      installPluginsJob,
      updatePluginsJob,
      activatePluginsJob,
      deactivatePluginsJob,
      deletePluginsJob,
    ],
  },
  siteHooks: { forgotten: deletePluginsOfSite },
  problems,
  actions,
  events,
})
