import { getLatestReport } from './get-latest-report.ts'
import { getThumbnail } from './get-thumbnail.ts'
import { listReports } from './list-reports.ts'
import { orderReport } from './order-report.ts'

/** In the order of the API description. Those after the second are additions. */
export const endpoints = [getLatestReport, orderReport, getThumbnail, listReports]
