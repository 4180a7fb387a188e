/** What other folders may import from this resource. */
export { findFeed } from './vulnerability.store.ts'
