import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'

export const sessions = resource({
  tag: { name: 'Sessions', description: 'Sessions of the control panel' },
  endpoints: () => import('./endpoints.ts'),
  actions,
})
