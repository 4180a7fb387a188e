import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { reply } from '../../platform/http/endpoint.ts'
import { invalidInput } from '../../platform/http/problem.ts'
import { besidesOf, nullable, oneOf, pageOf, pageQuery, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { Caller } from '../kit/caller.ts'
import { displayNames } from '../sites/public.ts'
import { type ActivityEntry, type EntryFilter, type LogOf, listEntries, pageOfEntries } from './activity.store.ts'

const sources = ['ui', 'api.v1', 'systems'] as const

/** Entry of an activity log, as the API shows it. */
export const EntrySchema = Type.Object(
  {
    id: Type.Integer(),
    timestamp: Timestamp,
    accountEmail: nullable(
      Type.String({
        description: 'Person who made the change. Null if Stead made it',
        examples: ['owner@example.com'],
      }),
    ),
    ipAddress: nullable(Type.String({ examples: ['192.0.2.7'] })),
    userAgent: Type.String({ examples: ['curl/8.5.0'] }),
    name: Type.String({ description: 'Name of the action', examples: ['site.created'] }),
    description: Type.String({ examples: ['A site was created'] }),
    source: oneOf(sources, { examples: ['api.v1'] }),
    message: Type.String({ examples: ['Created live site'] }),
    site_id: Type.Optional(
      nullable(Type.Integer({ description: 'Only present in the log of an account. Null if it is about no site' })),
    ),
    site_name: Type.Optional(
      nullable(
        Type.String({
          description: 'Display name of the site. Null if the site is not there. Only present in the log of an account',
          examples: ['My first site'],
        }),
      ),
    ),
  },
  { title: 'ActivityEntry' },
)

export function presentEntry(entry: ActivityEntry): Type.Static<typeof EntrySchema> {
  return {
    id: entry.id,
    timestamp: timestamp(entry.createdAt),
    accountEmail: entry.actorEmail,
    ipAddress: entry.ipAddress,
    userAgent: entry.userAgent,
    name: entry.action,
    description: entry.description,
    source: entry.source,
    message: entry.message,
  }
}

const columns = {
  action: 'action',
  account_email: 'actor_email',
  ip_address: 'ip_address',
  source: 'source',
} as const satisfies Record<string, EntryFilter['column']>

const fields = Object.keys(columns) as (keyof typeof columns)[]

/** Body of both log operations. */
export const ActivityQuery = Type.Object(
  {
    filters: Type.Optional(
      Type.Array(
        Type.Object(
          {
            field: oneOf(fields),
            operator: oneOf(['equals', 'contains']),
            value: Type.String({
              maxLength: 255,
              // PostgreSQL does not allow this character in text.
              pattern: '^[^\\u0000]*$',
              description: 'may not contain a null character',
              examples: ['site.created'],
            }),
          },
          { title: 'ActivityFilter' },
        ),
        {
          maxItems: 20,
          description: 'Returns entries that match all filters. Case is ignored',
          examples: [[{ field: 'action', operator: 'equals', value: 'site.created' }]],
        },
      ),
    ),
    ...pageQuery,
  },
  { title: 'ActivityQuery' },
)

/** Returns one page of a log, newest first. */
export async function activityPage(
  { tx, caller }: { readonly tx: Tx; readonly caller: Caller },
  log: LogOf,
  query: Type.Static<typeof ActivityQuery>,
) {
  const asked = pageOf(query)
  const filters = (query.filters ?? []).map(({ field, ...rest }, index) => {
    if (field === 'source' && rest.operator === 'equals' && !sources.some((each) => each === rest.value.toLowerCase()))
      throw invalidInput([`filters[${index}].value: must be one of ${sources.join(', ')}`])
    return { column: columns[field], ...rest }
  })
  const { entries, total } = await pageOfEntries(tx, log, filters, asked)
  const names =
    'accountId' in log
      ? await displayNames(
          tx,
          caller.accountId,
          entries.flatMap(({ siteId }) => siteId ?? []),
        )
      : undefined
  const shown = entries.map((entry) => ({
    ...presentEntry(entry),
    ...(names && { site_id: entry.siteId, site_name: (entry.siteId !== null && names.get(entry.siteId)) || null }),
  }))
  return reply(shown, await besidesOf(asked, entries, () => total))
}

/** Returns the newest entries of an account's log. */
export async function recentActivity(tx: Tx, accountId: number) {
  return (await listEntries(tx, { accountId }, [], { perPage: 10, offset: 0 })).map(presentEntry)
}
