import { resource } from '../resource.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

export const applications = resource({
  tag: { name: 'Applications', description: 'Keys with which programs use the API' },
  endpoints: () => import('./endpoints.ts'),
  problems,
  actions,
})
