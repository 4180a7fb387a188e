import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { batchCreate, batchDestroy } from './batch/batch.job.ts'
import { deleteCollaborationsOf, deleteCollaboratorsOfSite } from './collaborator.store.ts'
import { addAccountLevelCollaborators, startWpUsersOfSite } from './membership.ts'
import { problems } from './problems.ts'
import { resetCollaboratorPasswordJob } from './reset-collaborator-password.job.ts'
import { syncWpUser } from './sync-wp-user.job.ts'

export const collaborators = resource({
  tag: { name: 'Collaborators', description: 'Other accounts with access to a site, and their roles' },
  endpoints: () => import('./endpoints.ts'),
  siteHooks: {
    ordered: addAccountLevelCollaborators,
    live: startWpUsersOfSite,
    forgotten: deleteCollaboratorsOfSite,
  },
  accountHooks: { forgotten: (tx, { accountId }) => deleteCollaborationsOf(tx, accountId) },
  jobs: { host: [syncWpUser, resetCollaboratorPasswordJob], control: [batchCreate, batchDestroy] },
  problems,
  actions,
  events,
})
