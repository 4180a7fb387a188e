import { getLatestReport } from './get-latest-report.ts'
import { getThumbnail } from './get-thumbnail.ts'
import { orderReport } from './order-report.ts'

/** In the order of the description of the API; the last two are additions. */
export const endpoints = [getLatestReport, orderReport, getThumbnail]
