import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Callout } from '../../../parts/callout.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Form } from '../../../parts/form.tsx'
import { Progress } from '../../../parts/progress.tsx'
import { useRefusalOn } from '../../../parts/rights.tsx'
import { Segment } from '../../../parts/segment.tsx'
import { SitePicker } from '../../../parts/site-picker.tsx'
import { backupsTexts, restoreTexts as texts } from '../../../texts/site/backups.ts'
import { timeOf } from '../../../time.ts'
import type { PartProps } from '../part.ts'
import { usePreview } from '../use-preview.ts'
import { Loss } from './loss.tsx'
import type { Kind, RestorePoint } from './restore-point.ts'

type Order = components['schemas']['NewRestore']
type Choice = keyof typeof texts.choices

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/**
 * The files and database of about the same time as a point. A database without files gets the newest files before it.
 */
function pairOf(point: RestorePoint, all: readonly RestorePoint[]): Partial<Record<Kind, RestorePoint>> {
  const { fs, db } = point.backups
  const before = all.find(({ backups, taken }) => backups.fs !== undefined && taken <= point.taken)
  return {
    ...(fs !== undefined ? { fs: point } : db !== undefined && before && { fs: before }),
    ...(db !== undefined && { db: point }),
  }
}

/** The possible choices: "Everything" needs both. */
const choicesOf = ({ fs, db }: ReturnType<typeof pairOf>): readonly Choice[] => [
  ...(fs && db ? (['all'] as const) : []),
  ...(fs ? (['fs'] as const) : []),
  ...(db ? (['db'] as const) : []),
  'parts',
]

interface Props extends PartProps {
  readonly point: RestorePoint
  readonly all: readonly RestorePoint[]
  onClose(): void
}

/** Chooses what to restore and the target site, previews the changes, and then restores. */
export function Restore({ site, id, act, point, all, onClose }: Props) {
  const pair = pairOf(point, all)
  const target = useSignal({ id, name: site.displayName, slug: site.name })
  const isOnlyDatabase = point.backups.fs === undefined
  const choice = useSignal<Choice>(isOnlyDatabase ? 'db' : point.backups.db === undefined ? 'fs' : 'all')
  const [paths, tables] = [useSignal(''), useSignal('')]
  const there = useRefusalOn(target.value.id, 'restoreSite')
  const hasFiles = choice.value === 'all' || choice.value === 'fs' || (choice.value === 'parts' && paths.value.trim())
  const hasTables = choice.value === 'all' || choice.value === 'db' || (choice.value === 'parts' && tables.value.trim())
  function order(): Order {
    const isParts = choice.value === 'parts'
    if (!hasFiles && !hasTables) throw new Error(texts.nothing)
    return {
      ...(hasFiles && { filesystem_id: pair.fs?.backups.fs }),
      ...(hasTables && { database_id: pair.db?.backups.db }),
      ...(isParts && hasFiles && { paths: linesOf(paths.value) }),
      ...(isParts && hasTables && { tables: linesOf(tables.value) }),
      ...(target.value.id !== id && { restore_on_site_id: target.value.id }),
    }
  }
  const preview = usePreview({
    async start() {
      const params = { path: { site_id: id } }
      const body = { ...order(), dry_run: true }
      return (await ask(() => api.POST('/v1/sites/{site_id}/restores', { params, body }))).operationId
    },
    async read(operation) {
      const params = { path: { site_id: target.value.id, operation_id: operation } }
      return (await ask(() => api.GET('/v1/sites/{site_id}/restores/{operation_id}', { params }))).data
    },
    // Text that is still being typed is previewed on request only.
    isAsked: choice.value !== 'parts' && there.isKnown && !there.reason,
    on: [choice.value, target.value.id],
  })
  const damage = [hasFiles && pair.fs, hasTables && pair.db].flatMap((each) => (each ? each.damage : []))
  return (
    <Dialog title={texts.title(target.value.name, timeOf(point.taken))} isWide onClose={onClose}>
      <div class="stack-14">
        <Segment
          label={texts.what}
          options={Object.fromEntries(choicesOf(pair).map((each) => [each, texts.choices[each]]))}
          value={choice.value}
          set={(to) => {
            choice.value = to
            preview.drop()
          }}
        />
        {choice.value === 'all' && pair.fs && pair.db && pair.fs !== pair.db && (
          <p class="quiet small">{texts.pair(timeOf(pair.fs.taken), timeOf(pair.db.taken))}</p>
        )}
        {choice.value === 'parts' && (
          <>
            {pair.fs && <Lines label={texts.paths} hint={texts.pathsHint} of={paths} />}
            {pair.db && <Lines label={texts.tables} hint={texts.tablesHint} of={tables} />}
          </>
        )}
        <details>
          <summary>{texts.other}</summary>
          <SitePicker
            label={texts.onto}
            chosen={target.value}
            choose={(chosen) => {
              target.value = chosen
              preview.drop()
            }}
          />
        </details>
        {damage.length > 0 && <Callout kind="bad">{backupsTexts.damagedIs(damage.join(' '))}</Callout>}
        {there.reason && <Callout kind="warn">{there.reason}</Callout>}
        {there.isKnown && !there.reason && (
          <>
            {preview.operation.value !== undefined && (
              <Progress
                key={preview.operation.value}
                id={preview.operation.value}
                about={texts.looking}
                onEnd={preview.ended}
              />
            )}
            {/* There before its content: screen readers announce only what changes in it. */}
            <div role="status">
              {preview.fault.value && <Callout kind="warn">{texts.noPreview(preview.fault.value)}</Callout>}
              {preview.got.value && <Loss preview={preview.got.value} />}
            </div>
            {!preview.isReady.value && (
              <p class="row preview-actions">
                {choice.value === 'parts' && preview.operation.value === undefined && (
                  <Button onClick={preview.look}>{texts.preview}</Button>
                )}
                <Button isGhost onClick={preview.skip}>
                  {texts.skip}
                </Button>
              </p>
            )}
            <Form
              fields={[{ name: 'typed', label: texts.type(target.value.slug), hint: texts.hint, autocomplete: 'off' }]}
              button={texts.go}
              isBad
              isForgotten
              isHeld={!preview.isReady.value}
              submit={async ({ typed }) => {
                if (typed !== target.value.slug) throw new Error(texts.wrong)
                const params = { path: { site_id: id } }
                const body = order()
                const got = await ask(() => api.POST('/v1/sites/{site_id}/restores', { params, body }))
                const about = texts.about(target.value.name)
                onClose()
                act(about, async () => got)()
              }}
            />
          </>
        )}
      </div>
    </Dialog>
  )
}

const Lines = (props: { readonly label: string; readonly hint: string; readonly of: { value: string } }) => (
  <label>
    <span>{props.label}</span>
    <textarea
      rows={2}
      value={props.of.value}
      onInput={({ currentTarget }) => {
        props.of.value = currentTarget.value
      }}
    />
    <small class="quiet">{props.hint}</small>
  </label>
)
