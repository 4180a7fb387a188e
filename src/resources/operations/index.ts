import { forgetEndedOf } from '../../platform/operations/forget.ts'
import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { problems } from './problems.ts'

export const operations = resource({
  tag: { name: 'Operations', description: 'Background work: progress, cancel, retry' },
  endpoints: () => import('./endpoints.ts'),
  accountHooks: { emptied: (tx, { accountId }, most) => forgetEndedOf(tx, accountId, most) },
  problems,
  actions,
})
