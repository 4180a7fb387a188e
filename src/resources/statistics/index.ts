import { getSiteStatistics } from './get-site-statistics.ts'

export const statistics = { operations: [getSiteStatistics] }
