import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

export const account = resource({
  tag: { name: 'Account', description: 'The account, its defaults and its add-ons' },
  endpoints: () => import('./endpoints.ts'),
  problems,
  actions,
})
