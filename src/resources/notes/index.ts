import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { deleteNotesOfSite } from './note.store.ts'
import { problems } from './problems.ts'

export const notes = resource({
  tag: { name: 'Notes', description: 'Notes on a site' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: { forgotten: deleteNotesOfSite },
  problems,
  actions,
})
