import { resource } from '../resource.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

export const tags = resource({
  tag: { name: 'Tags', description: 'Tags and favourites: how an account arranges the sites that it sees' },
  operations: () => import('./operations.ts'),
  problems,
  actions,
})
