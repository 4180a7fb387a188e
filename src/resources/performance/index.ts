import { resource } from '../resource.ts'
import { actions, events } from './actions.ts'
import { switchMaintenance } from './switch-maintenance.job.ts'

export const performance = resource({
  tag: { name: 'Performance', description: 'Lightweight 404 answers, multisite support, maintenance mode' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [switchMaintenance] },
  actions,
  events,
})
