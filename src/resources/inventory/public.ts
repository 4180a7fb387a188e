/** What other folders may import from this resource. */
export {
  countAgain,
  countForSeer,
  type Extension,
  extensionsOf,
  storeExtensions,
  uncountSite,
} from './extensions.store.ts'
