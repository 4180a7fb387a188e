/** What other folders may import from this resource. */
export { brandingOf } from './branding.store.ts'
export { readableOnWhite, textOn } from './color.ts'
