/** What other folders may import from this resource. */
export { newestPictured } from './report.store.ts'
export { pictureLocation } from './report.ts'
