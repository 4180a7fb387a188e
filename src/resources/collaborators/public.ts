/** What other folders may import from this resource. */
export { findMembership } from './collaborator.store.ts'
export { hasWpAccess } from './collaborator.ts'
export { leaveSites } from './membership.ts'
