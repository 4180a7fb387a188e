import type { Tx } from '../../../platform/db/database.ts'
import type { DatabaseReplaced } from '../../kit/site-hooks.ts'
import type { SafeUpdateOrder, UpdatedItem } from '../safe-update.ts'
import type { UndoneVersion } from './policy.ts'

type Version = Pick<UndoneVersion, 'kind' | 'slug' | 'version'>

interface Undone {
  readonly siteId: number
  readonly operationId: number
  readonly versions: readonly Version[]
  /** They were undone together, so each may be harmless. */
  readonly areSuspects: boolean
  readonly now: number
}

/** Records versions of a site that no policy installs again, until there are newer ones or the policy changes. */
async function noteUndone(tx: Tx, { siteId, operationId, versions, areSuspects, now }: Undone): Promise<void> {
  for (const { kind, slug, version } of versions) {
    const values = { version, operation_id: operationId, undone_at: now, is_suspect: areSuspects ? 1 : 0 } as const
    await tx
      .insertInto('undone_updates')
      .values({ site_id: siteId, kind, slug, ...values })
      .onConflict((conflict) => conflict.columns(['site_id', 'kind', 'slug']).doUpdateSet(values))
      .execute()
  }
}

interface Ended {
  readonly input: SafeUpdateOrder
  readonly operationId: number
  now(): number
}

/**
 * Records the versions of an update that was undone. Of several versions, policies try each again alone, unless a person
 * canceled the update, or WordPress refused the version.
 */
export async function noteUndoneUpdate(
  tx: Tx,
  { input, operationId, canceled, now }: Ended & { readonly canceled: boolean },
  items: readonly UpdatedItem[],
): Promise<void> {
  const { siteId } = input
  const ordered = orderedBy(input)
  const refused = ordered.filter(isFailedAmong(items))
  const others = ordered.filter((each) => !refused.includes(each))
  const areSuspects = !canceled && others.length + (input.core ? 1 : 0) > 1
  const about = { siteId, operationId, now: now() }
  await noteUndone(tx, { ...about, versions: others, areSuspects })
  await noteUndone(tx, { ...about, versions: refused, areSuspects: false })
}

const isFailedAmong =
  (items: readonly UpdatedItem[]) =>
  ({ kind, slug }: Version): boolean =>
    items.some((item) => item.outcome === 'failed' && item.kind === kind && item.name === slug)

/** Does the same for the parts of a kept update that WordPress refused, or that broke the site at once. */
export async function noteKeptUpdate(
  tx: Tx,
  { input, operationId, now }: Ended,
  items: readonly UpdatedItem[],
): Promise<void> {
  const { siteId } = input
  for (const { kind, slug } of orderedBy(input))
    await tx
      .deleteFrom('undone_updates')
      .where('site_id', '=', siteId)
      .where('kind', '=', kind)
      .where('slug', '=', slug)
      .execute()
  const versions = orderedBy(input).filter(isFailedAmong(items))
  await noteUndone(tx, { siteId, operationId, versions, areSuspects: false, now: now() })
}

/** An operation of another version may lack one of them. */
function orderedBy({ plugins = [], themes = [] }: Partial<SafeUpdateOrder>): Version[] {
  const of = (kind: Version['kind'], ordered: SafeUpdateOrder['plugins']) =>
    ordered.flatMap(({ path, version, package: release }) => {
      const known = release?.version ?? version
      return known == null ? [] : [{ kind, slug: path, version: known }]
    })
  return [...of('plugin', plugins), ...of('theme', themes)]
}

/** Records the versions of a kept update that a person undoes, with the database of the moment before. */
export async function noteUndoneByPerson(tx: Tx, { siteId, undoOf }: DatabaseReplaced): Promise<void> {
  if (undoOf === undefined) return
  const row = await tx
    .selectFrom('safe_updates')
    .select('items')
    .where('operation_id', '=', undoOf)
    .where('site_id', '=', siteId)
    .executeTakeFirst()
  if (!row) return
  const versions = (JSON.parse(row.items) as UpdatedItem[]).flatMap(({ kind, name, outcome, to }) =>
    // Such an undo leaves WordPress.
    kind !== 'core' && outcome === 'updated' && to !== null ? [{ kind, slug: name, version: to }] : [],
  )
  await noteUndone(tx, { siteId, operationId: undoOf, versions, areSuspects: false, now: Date.now() })
}

export async function undoneVersions(tx: Tx, siteId: number): Promise<UndoneVersion[]> {
  const rows = await tx
    .selectFrom('undone_updates')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('kind')
    .orderBy('slug')
    .execute()
  return rows.map(({ kind, slug, version, operation_id: id, undone_at: at, is_suspect: suspect }) => ({
    ...{ kind: kind as UndoneVersion['kind'], slug, version, operationId: Number(id), undoneAt: Number(at) },
    isSuspect: suspect === 1,
  }))
}
