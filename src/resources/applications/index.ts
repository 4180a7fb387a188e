import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

export const applications = resource({
  tag: { name: 'Applications', description: 'API credentials for programs' },
  endpoints: () => import('./endpoints.ts'),
  problems,
  actions,
})
