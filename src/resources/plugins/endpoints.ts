import { activatePlugins } from './activate-plugins.ts'
import { deactivatePlugins } from './deactivate-plugins.ts'
import { deletePlugins } from './delete-plugins.ts'
import { installPlugins } from './install-plugins.ts'
import { listPlugins } from './list-plugins.ts'
import { listSiteAdvice } from './list-site-advice.ts'
import { updatePlugins } from './update-plugins.ts'

/** In the order of the API description. */
export const endpoints = [
  listPlugins,
  installPlugins,
  updatePlugins,
  deactivatePlugins,
  activatePlugins,
  deletePlugins,
  listSiteAdvice,
]
