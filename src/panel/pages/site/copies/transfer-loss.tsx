import type { components } from '../../../../sdk/api.generated.ts'
import { Callout } from '../../../parts/callout.tsx'
import { Change, Changes } from '../../../parts/changes.tsx'
import { sizeOf } from '../../../size.ts'
import { restoreTexts } from '../../../texts/site/backups.ts'
import { transferTexts as texts } from '../../../texts/site/copies.ts'
import { timeOf } from '../../../time.ts'

type Preview = components['schemas']['SyncPreview']

/** Named in the first sentence. */
const MOST_NAMED = 3

/** What a push or pull would change, and above all what the overwritten site would lose. */
export function TransferLoss({ preview: { files, database }, to }: { readonly preview: Preview; readonly to: string }) {
  const counts = database?.counts ?? []
  const created = counts.filter((one) => one.new > 0)
  const changed = counts.filter((one) => one.changed > 0)
  const newest = (database?.newest ?? []).map((one) => restoreTexts.item(one.kind, one.title, one.at))
  const differing = (database?.tables ?? []).filter(({ rows, fromRows }) => fromRows !== null && rows !== fromRows)
  const since = database?.since ?? null
  return (
    <>
      {database && created.length > 0 && (
        <Callout kind="warn">
          <b>
            {texts.lost(
              created.slice(0, MOST_NAMED).map((one) => restoreTexts.entries(one.new, one.kind)),
              to,
              since === null ? undefined : timeOf(since),
            )}
          </b>{' '}
          {texts.lostIs}
        </Callout>
      )}
      {database && created.length === 0 && <Callout kind="info">{texts.nothingLost(to)}</Callout>}
      <Changes label={texts.changes}>
        {created.map((one, at) => (
          <Change
            key={`${one.table} ${one.kind}`}
            kind="deleted"
            details={at === 0 && newest.length > 0 ? <Names of={newest} /> : undefined}
          >
            {texts.deletedEntries(restoreTexts.entries(one.new, one.kind), one.table)}
          </Change>
        ))}
        {changed.map((one) => (
          <Change key={`${one.table} ${one.kind} changed`} kind="changed">
            {texts.changedEntries(restoreTexts.entries(one.changed, one.kind), one.table)}
          </Change>
        ))}
        {differing.length > 0 && (
          <Change
            kind="changed"
            details={<Names of={differing.map((one) => texts.rows(one.table, one.rows ?? 0, one.fromRows ?? 0))} />}
          >
            {texts.tables(differing.length)}
          </Change>
        )}
        {files && files.removed.count > 0 && (
          <Change kind="deleted" details={<Names of={files.removed.first} />}>
            {texts.removedFiles(files.removed.count, sizeOf(files.removed.bytes))}
          </Change>
        )}
        {files && files.changed.count > 0 && (
          <Change kind="changed" details={<Names of={files.changed.first} />}>
            {texts.changedFiles(files.changed.count, sizeOf(files.changed.bytes))}
          </Change>
        )}
        {files && files.added.count > 0 && (
          <Change kind="added" details={<Names of={files.added.first} />}>
            {texts.addedFiles(files.added.count, sizeOf(files.added.bytes))}
          </Change>
        )}
        {files && files.added.count + files.changed.count + files.removed.count === 0 && (
          <Change kind="kept">{texts.sameFiles}</Change>
        )}
      </Changes>
    </>
  )
}

const Names = ({ of }: { readonly of: readonly string[] }) => (
  <ul>
    {of.map((each) => (
      <li key={each}>{each}</li>
    ))}
  </ul>
)
