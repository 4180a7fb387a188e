import { getSiteStatistics } from './get-site-statistics.ts'
import { listDailyStatistics } from './list-daily-statistics.ts'
import { listSiteFigures } from './list-site-figures.ts'

/** In the order of the API description. */
export const endpoints = [getSiteStatistics, listDailyStatistics, listSiteFigures]
