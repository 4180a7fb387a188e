/** What other folders may import from this resource. */
export { openUploads } from './staging.ts'
