/** What other folders may import from this resource. */
export { createDatabaseAdmin } from './enter.ts'
