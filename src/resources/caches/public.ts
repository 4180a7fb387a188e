/** What other folders may import from this resource. */
export { Switch } from './edge-cache.ts'
