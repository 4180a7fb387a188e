/** What other folders may import from this resource. */
export { deleteTagsOfSite } from './tag.store.ts'
