import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { newestTakenOf } from '../backups/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { newestPictured, pictureLocation } from '../performance-reports/public.ts'
import { figuresOfSites } from './statistics.store.ts'

const DAYS = 30

export const listSiteFigures = endpoint({
  id: 'listSiteFigures',
  method: 'POST',
  path: '/v1/sites/statistics',
  summary: 'List statistics of several sites',
  description:
    'An addition of Stead, for lists of sites: page views of the last 30 days, storage use as of last night, the time of the newest backup, and a picture of the homepage. Sites that you cannot see are left out. Nothing is written to the activity log.',
  access: { account: 'own' },
  reads: true,
  body: Type.Object(
    { site_ids: Type.Array(SiteId, { minItems: 1, maxItems: 100, examples: [[1, 2]] }) },
    { title: 'ListSiteFiguresBody' },
  ),
  response: Type.Array(
    Type.Object(
      {
        id: Type.Integer({ description: 'The site' }),
        views: Type.Array(Type.Integer(), {
          description: `Page views of each of the last ${DAYS} days, today last`,
          minItems: DAYS,
          maxItems: DAYS,
          examples: [Array.from({ length: DAYS }, (_, day) => 400 + ((day * 37) % 90))],
        }),
        databaseUsageBytes: Type.Integer({ examples: [1458176] }),
        fileSystemUsageBytes: Type.Integer({ examples: [52428800] }),
        lastBackupAt: nullable({
          ...Timestamp,
          description: 'Time that the newest complete backup shows, or null if there is none',
        }),
        pictureLocation: nullable(
          Type.String({
            description:
              'Path of the newest screenshot of the homepage, or null if no performance report has one. It requires the same token. A newer screenshot has another path',
            examples: ['/v1/sites/1/reports/performance/1/thumbnails/desktop'],
          }),
        ),
      },
      { title: 'SiteFigures' },
    ),
  ),

  async handle({ tx, caller, now }, { body }) {
    const today = dayOf(now)
    const from = today - DAYS + 1
    const found = await figuresOfSites(tx, caller.accountId, body.site_ids, { from, to: today })
    const ids = found.map(({ id }) => id)
    const backedUp = await newestTakenOf(tx, ids)
    const pictured = await newestPictured(tx, ids)
    const lastBackupAt = (id: number) => {
      const takenAt = backedUp.get(id)
      return takenAt === undefined ? null : timestamp(takenAt)
    }
    const pictureOf = (id: number) => {
      const reportId = pictured.get(id)
      return reportId === undefined ? null : pictureLocation(id, reportId, 'desktop')
    }
    return found.map(({ id, views, databaseBytes, fileBytes }) => ({
      id,
      views: Array.from({ length: DAYS }, (_, at) => views.get(from + at) ?? 0),
      databaseUsageBytes: databaseBytes,
      fileSystemUsageBytes: fileBytes,
      lastBackupAt: lastBackupAt(id),
      pictureLocation: pictureOf(id),
    }))
  },
})
