/** What other folders may import from this resource. */

export { brandingOf, brandOfMail, brandOfMailFrom, brandSeenBy } from './branding.store.ts'
export { BrandSchema, presentBrand } from './branding.ts'
