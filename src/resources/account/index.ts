import { resource } from '../resource.ts'
import { actions } from './actions.ts'

export const account = resource({
  tag: { name: 'Account', description: 'The account itself: defaults and add-ons' },
  operations: () => import('./operations.ts'),
  actions,
})
