/** What other folders may import from this resource. */
export { databaseAdmin } from './enter.ts'
