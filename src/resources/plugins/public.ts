/** What other folders may import from this resource. */
export { frontFault } from './front-fault.ts'
export { openPluginDirectory } from './open-directory.ts'
