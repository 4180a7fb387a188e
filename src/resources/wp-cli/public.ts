/** What other folders may import from this resource. */
export { createCommandAccess } from './command-access.ts'
