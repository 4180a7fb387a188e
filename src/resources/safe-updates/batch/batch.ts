import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../../platform/http/schemas.ts'
import { updateStates } from '../safe-update.ts'

/** Sites that batches update at the same time, in the whole installation. Each is on another host. */
export const UPDATES_AT_ONCE = 4
/** The most sites of a batch. */
export const MOST_SITES = 1000
/** How many batches of an account are kept, and how many are in progress. */
export const MOST_BATCHES = 100
export const MOST_OPEN = 10

export const batchStates = ['in_progress', 'completed', 'failed', 'canceled'] as const
export type BatchState = (typeof batchStates)[number]

export const batchSiteStates = ['waiting', ...updateStates, 'skipped'] as const
export type BatchSiteState = (typeof batchSiteStates)[number]

const version = Type.Optional(Type.String())

/** The plugins and themes that a batch updates on the sites that have them. */
export const BatchWish = Type.Object({
  all: Type.Boolean(),
  plugins: Type.Array(Type.Object({ path: Type.String(), version })),
  themes: Type.Array(Type.Object({ name: Type.String(), version })),
  /** `latest`, or a release of WordPress. */
  core: Type.Optional(Type.String()),
})
export type BatchWish = Type.Static<typeof BatchWish>

/** How many sites of a batch have each state. */
export type BatchCounts = Readonly<Record<BatchSiteState, number>>

/** A site of a batch, as the account of the batch sees it. */
export interface BatchSite {
  readonly siteId: number
  /** Null for a site that the account does not see any longer. */
  readonly name: string | null
  readonly state: BatchSiteState
  readonly reason: string | null
  readonly updateId: number | null
}

export interface StoredBatch {
  readonly id: number
  readonly accountId: number
  readonly wish: BatchWish
  readonly state: BatchState
  readonly createdAt: number
  readonly endedAt: number | null
}

const Version = nullable(Type.String({ description: 'Null: the latest', examples: [null] }))

const SiteSchema = Type.Object(
  {
    site_id: Type.Integer({ examples: [12] }),
    display_name: nullable(
      Type.String({ description: 'Null if you do not see the site any longer', examples: ['Shop One'] }),
    ),
    state: oneOf(batchSiteStates, {
      description: '`waiting`: its update has not begun. `skipped`: it was not updated, and `reason` says why',
      examples: ['kept'],
    }),
    reason: nullable(Type.String({ description: 'Why it was skipped or undone, or failed', examples: [null] })),
    update_id: nullable(Type.Integer({ description: 'ID of its safe update', examples: [42] })),
  },
  { title: 'SafeUpdateBatchSite' },
)

export const BatchSchema = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the operation, too', examples: [41] }),
    state: oneOf(batchStates, {
      description: '`failed`: the update of a site was undone or failed. A retry begins again with these sites',
      examples: ['completed'],
    }),
    all: Type.Boolean({ description: 'Whether it updates everything that has an update', examples: [true] }),
    plugins: Type.Array(
      Type.Object(
        { path: Type.String({ examples: ['akismet'] }), version: Version },
        { title: 'SafeUpdateBatchPlugin' },
      ),
    ),
    themes: Type.Array(
      Type.Object(
        { name: Type.String({ examples: ['twentytwentyfive'] }), version: Version },
        { title: 'SafeUpdateBatchTheme' },
      ),
    ),
    core: nullable(Type.String({ description: 'The release of WordPress. Null: it stays', examples: ['latest'] })),
    counts: Type.Object(
      Object.fromEntries(batchSiteStates.map((state) => [state, Type.Integer({ examples: [1] })])) as Record<
        BatchSiteState,
        ReturnType<typeof Type.Integer>
      >,
      { title: 'SafeUpdateBatchCounts', description: 'Number of sites in each state' },
    ),
    sites: Type.Array(SiteSchema),
    created_at: Timestamp,
    ended_at: nullable(Timestamp),
  },
  { title: 'SafeUpdateBatch' },
)

export function countStates(sites: readonly { readonly state: BatchSiteState }[]): BatchCounts {
  const counts = Object.fromEntries(batchSiteStates.map((state) => [state, 0])) as Record<BatchSiteState, number>
  for (const { state } of sites) counts[state]++
  return counts
}

export function presentBatch({ id, state, wish, createdAt, endedAt }: StoredBatch, sites: readonly BatchSite[]) {
  return {
    ...{ id, state, all: wish.all },
    plugins: wish.plugins.map(({ path, version: wanted = null }) => ({ path, version: wanted })),
    themes: wish.themes.map(({ name, version: wanted = null }) => ({ name, version: wanted })),
    core: wish.core ?? null,
    counts: countStates(sites),
    sites: sites.map(({ siteId, name, state: ofSite, reason, updateId }) => ({
      ...{ site_id: siteId, display_name: name, state: ofSite },
      ...{ reason: name === null ? null : reason, update_id: updateId },
    })),
    created_at: timestamp(createdAt),
    ended_at: endedAt === null ? null : timestamp(endedAt),
  }
}
