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
import { lookAtDueSites, lookAtDueSitesOften } from './look-at-due-sites.job.ts'
import { deletePluginsOfSite, listSoon } from './plugin.store.ts'
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
    control: [lookAtDueSites],
  },
  schedules: [lookAtDueSitesOften],
  siteHooks: {
    live: (tx, { id }) => listSoon(tx, id),
    async filled({ database }, { id, state }) {
      // A new site is listed when it is live.
      if (state === 'live') await database.transaction((tx) => listSoon(tx, id))
    },
    forgotten: deletePluginsOfSite,
  },
  problems,
  actions,
  events,
})
