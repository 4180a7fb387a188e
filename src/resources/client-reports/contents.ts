import Type, { type TObject } from 'typebox'
import { monitoringReasons } from '../../edge/monitor/finding.ts'
import { nullable, oneOf, Timestamp } from '../../platform/http/schemas.ts'

/** The most entries of a list in a report. The counts beside it include all. */
export const MOST_LISTED = 50

const count = (description: string, example: number) => Type.Integer({ description, examples: [example] })
const orNull = <Schema extends TObject>(schema: Schema, why: string) =>
  Type.Union([schema, Type.Null()], { description: why })

const since = Type.String({ description: 'The first day that was counted', examples: ['2026-10-01'] })

const UptimeSection = Type.Object(
  {
    percent: Type.Number({ description: 'Share of the questions that the site answered', examples: [99.98] }),
    days: Type.Array(nullable(Type.Number({ examples: [100] })), {
      description: 'Percent of each day. Null without questions',
    }),
    incidents: count('How often it was down', 1),
    down_minutes: count('How long it was down in total', 7),
    list: Type.Array(
      Type.Object(
        {
          began_at: Timestamp,
          ended_at: nullable(Timestamp),
          reason: oneOf(monitoringReasons, { examples: ['status'] }),
          detail: Type.String({ examples: ['The front page answers 502'] }),
        },
        { title: 'ClientReportIncident' },
      ),
      { description: 'Oldest first' },
    ),
  },
  { title: 'ClientReportUptime' },
)

export const changeOutcomes = ['done', 'undone', 'failed'] as const

const ChangeSchema = Type.Object(
  {
    at: Timestamp,
    text: Type.String({ examples: ['Updated Akismet from 5.3 to 5.4'] }),
    outcome: oneOf(changeOutcomes, {
      description:
        '`undone`: Stead found a fault after the update, and went back. `failed`: the site was left unchanged',
      examples: ['done'],
    }),
  },
  { title: 'ClientReportChange' },
)
/** An update of a plugin, a theme, or WordPress. */
export type ReportedChange = Type.Static<typeof ChangeSchema>

const UpdatesSection = Type.Object(
  {
    done: count('Updates that the site has', 4),
    undone: count('Updates that were undone', 0),
    failed: count('Updates that failed', 0),
    counted_since: since,
    list: Type.Array(ChangeSchema, { description: 'Oldest first' }),
  },
  { title: 'ClientReportUpdates' },
)

const BackupsSection = Type.Object(
  {
    files: count('Backups of files', 31),
    databases: count('Backups of the database', 744),
    proven: count('Test restores that succeeded', 4),
    not_proven: count('Test restores that failed', 0),
    counted_since: since,
  },
  { title: 'ClientReportBackups' },
)

const VisitsSection = Type.Object(
  {
    visits: count('Unique visitors of each day', 1280),
    views: count('Page views', 5120),
    visits_before: nullable(count('Visits in the month before. Null: none were counted', 1100)),
    views_before: nullable(count('Page views in the month before', 4800)),
    days: Type.Array(Type.Integer({ examples: [160] }), { description: 'Page views of each day' }),
  },
  { title: 'ClientReportVisits' },
)

const ScoresSchema = Type.Object(
  {
    at: Timestamp,
    desktop: nullable(Type.Integer({ description: 'Lighthouse score, 0 to 100', examples: [98] })),
    mobile: nullable(Type.Integer({ examples: [91] })),
  },
  { title: 'ClientReportScores' },
)
export type ReportedScores = Type.Static<typeof ScoresSchema>

const PerformanceSection = Type.Object(
  { now: ScoresSchema, before: orNull(ScoresSchema, 'The measurement before, if there is one') },
  { title: 'ClientReportPerformance' },
)

const DomainsSection = Type.Object(
  {
    domains: count('Domains of the site', 2),
    certificates: count('Names with a certificate', 2),
    missing: count('Names that want a certificate and have none', 0),
    valid_until: nullable({ ...Timestamp, description: 'When the first certificate expires. Stead renews it before' }),
  },
  { title: 'ClientReportDomains' },
)

const contents = {
  month: Type.String({ examples: ['2026-10'] }),
  state: oneOf(['so_far', 'complete'], { description: '`so_far`: the month has not ended', examples: ['complete'] }),
  as_of: Type.String({ description: 'Day on which the data was read', examples: ['2026-11-01'] }),
  site_name: Type.String({ examples: ['My first site'] }),
  address: Type.String({ examples: ['www.example.com'] }),
  uptime: orNull(UptimeSection, 'Null: no edge asked the site'),
  updates: orNull(UpdatesSection, 'Null: updates were not counted yet'),
  backups: orNull(BackupsSection, 'Null: backups were not counted yet'),
  visits: orNull(VisitsSection, 'Null: no visits were counted'),
  performance: orNull(PerformanceSection, 'Null: nothing was measured'),
  domains: DomainsSection,
}

export const ClientReport = Type.Object(contents, { title: 'ClientReport' })
/** The report of a site on one month, as the API shows and stores it. */
export type ReportContents = Type.Static<typeof ClientReport>
