/** What other folders may import from this resource. */
export { setDnssec } from './key.store.ts'
