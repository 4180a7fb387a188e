/** What other folders may import from this resource. */
export { type DatabaseErrors, databaseWarning, frontFault, newDatabaseErrors } from './front-fault.ts'
export { lookAtShop } from './list-plugins.job.ts'
export { openPluginDirectory } from './open-directory.ts'
export { listSoon } from './plugin.store.ts'
