import type { components } from '../../../../sdk/api.generated.ts'
import { Callout } from '../../../parts/callout.tsx'
import { Change, Changes } from '../../../parts/changes.tsx'
import { sizeOf } from '../../../size.ts'
import { restoreTexts as texts } from '../../../texts/site/backups.ts'

type Preview = components['schemas']['RestorePreview']

/** Named in the first sentence. */
const MOST_NAMED = 3

/** The changes that a restore would make. */
export function Loss({ preview: { files, database } }: { readonly preview: Preview }) {
  const counts = database?.counts ?? []
  const created = counts.filter((one) => one.new > 0)
  const changed = counts.filter((one) => one.changed > 0)
  const newest = (database?.newest ?? []).map((one) => texts.item(one.kind, one.title, one.at))
  const isSame = !created.length && !changed.length && !files?.removed.count && !files?.written.count
  return (
    <>
      {created.length > 0 && (
        <Callout kind="warn">
          <b>
            {texts.lost(
              created.slice(0, MOST_NAMED).map((one) => texts.entries(one.new, one.kind)),
              created.reduce((sum, one) => sum + one.new, 0),
            )}
          </b>{' '}
          {texts.lostIs}
        </Callout>
      )}
      <Changes label={texts.changes}>
        {created.map((one, at) => (
          <Change
            key={`${one.table} ${one.kind}`}
            kind="deleted"
            details={at === 0 && newest.length > 0 ? <Names of={newest} /> : undefined}
          >
            {texts.deletedEntries(texts.entries(one.new, one.kind), one.table)}
          </Change>
        ))}
        {changed.map((one) => (
          <Change key={`${one.table} ${one.kind} changed`} kind="changed">
            {texts.changedEntries(texts.entries(one.changed, one.kind), one.table)}
          </Change>
        ))}
        {files && files.removed.count > 0 && (
          <Change kind="deleted" details={<Names of={files.removed.first} />}>
            {texts.removedFiles(files.removed.count, sizeOf(files.removed.bytes))}
          </Change>
        )}
        {files && files.written.count > 0 && (
          <Change kind="changed" details={<Names of={files.written.first} />}>
            {texts.writtenFiles(files.written.count, sizeOf(files.written.bytes))}
          </Change>
        )}
        {isSame && <Change kind="kept">{texts.same}</Change>}
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
