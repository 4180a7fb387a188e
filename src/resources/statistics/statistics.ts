export { accountSums, type SiteStatistics, siteStatistics } from './statistics.store.ts'
export { detailPageViews, PageViews, readSums } from './windows.ts'
