import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { switchMaintenance } from './switch-maintenance.job.ts'

export const performance = resource({
  tag: { name: 'Performance', description: 'Lightweight 404 responses, multisite support and maintenance mode' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [switchMaintenance] },
  actions,
  events,
})
