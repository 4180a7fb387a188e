/** What other folders may import from this resource. */
export { measureSite } from './measure-sites.job.ts'
export { accountSums } from './statistics.store.ts'
export { detailPageViews, PageViews, readSums } from './windows.ts'
