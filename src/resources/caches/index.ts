import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { flushObjectCacheJob } from './flush-object-cache.job.ts'
import { problems } from './problems.ts'

export const caches = resource({
  tag: { name: 'Caches', description: 'Edge cache, CDN and object cache of a site' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { host: [flushObjectCacheJob] },
  problems,
  actions,
  events,
})
