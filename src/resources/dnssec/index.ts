import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { lookAtKeys, planKeys, planKeysOften } from './look-at-keys.job.ts'
import { problems } from './problems.ts'

export const dnssec = resource({
  tag: { name: 'DNSSEC', description: 'DNSSEC signing of zones' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [lookAtKeys, planKeys] },
  schedules: [planKeysOften],
  problems,
  actions,
})
