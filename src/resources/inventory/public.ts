/** What other folders may import from this resource. */
export { countAgain, countForSeer, type Extension, storeExtensions, uncountSite } from './extensions.store.ts'
