import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { noteReplacedDatabase, unlinkForgottenSite } from './environment.store.ts'
import { problems } from './problems.ts'

export const environments = resource({
  tag: { name: 'Environments', description: 'Staging sites of a live site, and what moves between them' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { databaseReplaced: noteReplacedDatabase, forgotten: unlinkForgottenSite },
  problems,
  actions,
  events,
})
