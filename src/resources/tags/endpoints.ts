import { addCollaborationTags } from './add-collaboration-tags.ts'
import { addCollaboratorFavorite } from './add-collaborator-favorite.ts'
import { addCollaboratorTags } from './add-collaborator-tags.ts'
import { addFavorite } from './add-favorite.ts'
import { addSiteTags } from './add-site-tags.ts'
import { getCollaborationSite } from './get-collaboration-site.ts'
import { getCollaboratorSite } from './get-collaborator-site.ts'
import { listCollaboratorSites } from './list-collaborator-sites.ts'
import { removeCollaborationTags } from './remove-collaboration-tags.ts'
import { removeCollaboratorFavorite } from './remove-collaborator-favorite.ts'
import { removeCollaboratorTags } from './remove-collaborator-tags.ts'
import { removeFavorite } from './remove-favorite.ts'
import { removeSiteTags } from './remove-site-tags.ts'

/** In the order of the API description. */
export const endpoints = [
  addFavorite,
  removeFavorite,
  addSiteTags,
  removeSiteTags,
  getCollaborationSite,
  addCollaborationTags,
  removeCollaborationTags,
  listCollaboratorSites,
  getCollaboratorSite,
  addCollaboratorFavorite,
  removeCollaboratorFavorite,
  addCollaboratorTags,
  removeCollaboratorTags,
]
