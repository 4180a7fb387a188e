import { addSiteCollaborator } from './add-site-collaborator.ts'
import { batchCreateCollaborators } from './batch/batch-create-collaborators.ts'
import { batchDestroyCollaborators } from './batch/batch-destroy-collaborators.ts'
import { getCollaborator } from './get-collaborator.ts'
import { getSiteCollaborator } from './get-site-collaborator.ts'
import { listCollaborators } from './list-collaborators.ts'
import { listSiteCollaborators } from './list-site-collaborators.ts'
import { listSiteRights } from './list-site-rights.ts'
import { removeSiteCollaborator } from './remove-site-collaborator.ts'
import { resetCollaboratorPassword } from './reset-collaborator-password.ts'
import { updateAccountLevelAccess } from './update-account-level-access.ts'

/** In the order of the API description. */
export const endpoints = [
  listCollaborators,
  getCollaborator,
  updateAccountLevelAccess,
  batchCreateCollaborators,
  batchDestroyCollaborators,
  listSiteCollaborators,
  addSiteCollaborator,
  getSiteCollaborator,
  removeSiteCollaborator,
  resetCollaboratorPassword,
  listSiteRights,
]
