import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Callout } from '../../../parts/callout.tsx'
import { Change, Changes } from '../../../parts/changes.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Form } from '../../../parts/form.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Progress } from '../../../parts/progress.tsx'
import { useRefusalOn } from '../../../parts/rights.tsx'
import { Segment } from '../../../parts/segment.tsx'
import type { Chosen } from '../../../parts/site-picker.tsx'
import { copiesTexts as texts, transferTexts } from '../../../texts/site/copies.ts'
import type { PartProps } from '../part.ts'
import { type Previewing, usePreview } from '../use-preview.ts'
import { TransferLoss } from './transfer-loss.tsx'

type Order = components['schemas']['NewSync']
type Part = keyof typeof texts.parts
type Choice = keyof typeof texts.choices

const parts = Object.keys(texts.parts) as Part[]
const presets: Record<Exclude<Choice, 'parts'>, readonly Part[]> = {
  code: ['themes_directory', 'plugins_directory'],
  content: ['uploads_directory', 'database'],
  all: parts,
}
const environments = ['production', 'staging', 'development', 'local'] as const

const folders = {
  themes_directory: 'themes',
  plugins_directory: 'plugins',
  wp_content_directory: 'content',
  root_directory: 'root',
  uploads_directory: 'uploads',
} as const

interface Props extends PartProps {
  /** The live site and its environment, if the two sites are these. */
  readonly link?: { readonly liveId: number; readonly environmentId: number } | undefined
  readonly other: Chosen
  /** Whether the sync goes from this site to the other. */
  readonly isPush: boolean
  onClose(): void
}

/** Chooses what one site gets from another, previews the changes, and then syncs. */
export function Sync({ site, id, act, other, isPush, link, onClose }: Props) {
  const here = { id, name: site.displayName, slug: site.name }
  const isAway = useSignal(isPush)
  const [from, to] = isAway.value ? [here, other] : [other, here]
  const choice = useSignal<Choice>('code')
  const ticked = useSignal<ReadonlySet<Part>>(new Set(presets.code))
  const some = choice.value === 'parts' ? parts.filter((each) => ticked.value.has(each)) : presets[choice.value]
  // Reading and overwriting need different rights.
  const source = useRefusalOn(from.id, 'downloadBackup')
  const target = useRefusalOn(to.id, 'restoreSite')
  const reason = source.reason ?? target.reason
  const preview = usePreview({
    start: async () => link && (await transfer(link, { from: from.id, ...wanted(), isPreview: true })).operationId,
    async read(operation) {
      const path = { ...pathOf(link), operation_id: operation }
      const address = '/v1/sites/{site_id}/environments/{environment_id}/previews/{operation_id}'
      return (await ask(() => api.GET(address, { params: { path } }))).data
    },
    isAsked: link !== undefined && choice.value !== 'parts' && source.isKnown && target.isKnown && !reason,
    on: [choice.value, isAway.value],
  })
  function wanted() {
    if (some.length === 0) throw new Error(texts.nothing)
    return { choice: choice.value, some }
  }
  const tick = (part: Part, isTicked: boolean) => {
    ticked.value = new Set(parts.filter((each) => (each === part ? isTicked : ticked.value.has(each))))
    preview.drop()
  }
  return (
    <Dialog title={texts.sync(from.name, to.name)} isWide onClose={onClose}>
      <div class="stack-14">
        <div class="flow">
          <div>
            <small>{texts.from}</small>
            <b>{from.name}</b>
          </div>
          <Icon name="arrowRight" />
          <div class="overwritten">
            <small>{texts.to}</small>
            <b>{to.name}</b>
          </div>
        </div>
        <p class="row spread">
          <Segment
            label={texts.what}
            options={texts.choices}
            value={choice.value}
            set={(to) => {
              choice.value = to
              preview.drop()
            }}
          />
          <Button
            isGhost
            isSmall
            icon="refreshCw"
            onClick={() => {
              isAway.value = !isAway.value
              preview.drop()
            }}
          >
            {texts.swap}
          </Button>
        </p>
        {choice.value === 'parts' && (
          <fieldset>
            <legend>{texts.what}</legend>
            {parts.map((part) => (
              <label key={part}>
                <input
                  type="checkbox"
                  checked={ticked.value.has(part)}
                  onChange={({ currentTarget }) => tick(part, currentTarget.checked)}
                />{' '}
                {texts.parts[part]}
              </label>
            ))}
          </fieldset>
        )}
        <Changes label={texts.preview}>
          {parts.map((part) => (
            <Change key={part} kind={some.includes(part) ? 'changed' : 'kept'}>
              {(some.includes(part) ? texts.overwritten : texts.kept)(texts.parts[part])}
            </Change>
          ))}
          {link && choice.value === 'code' && <Change kind="changed">{texts.overwritten(texts.muPlugins)}</Change>}
        </Changes>
        {some.includes('database') && !preview.got.value && <Callout kind="warn">{texts.orders(to.name)}</Callout>}
        {link && !reason && <Comparison preview={preview} to={to.name} isManual={choice.value === 'parts'} />}
        <p class="quiet">{link ? transferTexts.backedUp : texts.backedUp}</p>
        {reason && <Callout kind="warn">{reason}</Callout>}
        {source.isKnown && target.isKnown && !reason && (
          <Form
            fields={[{ name: 'typed', label: texts.type(to.slug), hint: texts.hint, autocomplete: 'off' }]}
            button={texts.go}
            isBad
            isForgotten
            isHeld={link !== undefined && !preview.isReady.value}
            submit={async ({ typed, environment, skip }) => {
              if (some.length === 0) throw new Error(texts.nothing)
              if (typed !== to.slug) throw new Error(texts.wrong)
              if (link) {
                const got = await transfer(link, { from: from.id, ...wanted(), skip: Boolean(skip) })
                onClose()
                act(texts.about(to.name), async () => got)()
                return
              }
              const body: Order = {
                ...{ from_site_id: from.id, to_site_id: to.id },
                ...Object.fromEntries(some.map((part) => [part, true])),
                ...(skip && { skip_http_check: true }),
                ...(environment && { wp_environment_type: environment as Order['wp_environment_type'] }),
              }
              const got = await ask(() => api.POST('/v1/sites/sync', { body }))
              onClose()
              act(texts.about(to.name), async () => got)()
            }}
          >
            <details>
              <summary>{texts.options}</summary>
              {!link && (
                <label>
                  <span>{texts.environment}</span>
                  <select name="environment">
                    <option value="">{texts.keeps}</option>
                    {environments.map((each) => (
                      <option key={each} value={each}>
                        {each}
                      </option>
                    ))}
                  </select>
                </label>
              )}
              <label>
                <input type="checkbox" name="skip" value="true" /> {texts.skip}
              </label>
            </details>
          </Form>
        )}
      </div>
    </Dialog>
  )
}

type Link = NonNullable<Props['link']>
const pathOf = (link: Link | undefined) => ({ site_id: link?.liveId ?? 0, environment_id: link?.environmentId ?? 0 })

/** Starts a push or pull between two linked sites, or its preview. */
function transfer(
  link: Link,
  given: {
    readonly from: number
    readonly choice: Choice
    readonly some: readonly Part[]
    readonly isPreview?: boolean
    readonly skip?: boolean
  },
) {
  const { choice, some, isPreview, skip } = given
  const named = some.flatMap((part) => (part === 'database' ? [] : [folders[part]]))
  const body = {
    preset: choice === 'parts' ? ('chosen' as const) : choice === 'all' ? ('everything' as const) : choice,
    ...(choice === 'parts' && named.length > 0 && { folders: named }),
    ...(choice === 'parts' && { database: some.includes('database') }),
    ...(isPreview && { dry_run: true }),
    ...(skip && { skip_http_check: true }),
  }
  const params = { path: pathOf(link) }
  return given.from === link.environmentId
    ? ask(() => api.POST('/v1/sites/{site_id}/environments/{environment_id}/push', { params, body }))
    : ask(() => api.POST('/v1/sites/{site_id}/environments/{environment_id}/pull', { params, body }))
}

/** The preview of a push or pull: while it runs, and what it found. */
const Comparison = ({
  preview,
  to,
  isManual,
}: {
  readonly preview: Previewing<Parameters<typeof TransferLoss>[0]['preview']>
  readonly to: string
  /** Whether the person asks for it. */
  readonly isManual: boolean
}) => (
  <>
    {preview.operation.value !== undefined && (
      <Progress
        key={preview.operation.value}
        id={preview.operation.value}
        about={transferTexts.looking}
        onEnd={preview.ended}
      />
    )}
    {/* There before its content: screen readers announce only what changes in it. */}
    <div role="status">
      {preview.fault.value && <Callout kind="warn">{transferTexts.noPreview(preview.fault.value)}</Callout>}
      {preview.got.value && <TransferLoss preview={preview.got.value} to={to} />}
    </div>
    {!preview.isReady.value && (
      <p class="row preview-actions">
        {isManual && preview.operation.value === undefined && (
          <Button onClick={preview.look}>{transferTexts.look}</Button>
        )}
        <Button isGhost onClick={preview.skip}>
          {transferTexts.skip}
        </Button>
      </p>
    )}
  </>
)
