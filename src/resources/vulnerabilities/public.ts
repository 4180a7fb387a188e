/** What other folders may import from this resource. */
export { compareExtensionVersions } from './versions.ts'
export { findFeed, isAffected, vulnerabilitiesOf } from './vulnerability.store.ts'
