import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { Button } from '../../../parts/button.tsx'
import { Callout } from '../../../parts/callout.tsx'
import { Change, Changes } from '../../../parts/changes.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { Form } from '../../../parts/form.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { useRefusalOn } from '../../../parts/rights.tsx'
import { Segment } from '../../../parts/segment.tsx'
import type { Chosen } from '../../../parts/site-picker.tsx'
import { copiesTexts as texts } from '../../../texts/site/copies.ts'
import type { PartProps } from '../part.ts'

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

interface Props extends PartProps {
  readonly other: Chosen
  /** Whether the sync goes from this site to the other. */
  readonly isPush: boolean
  onClose(): void
}

/** Chooses what one site gets from another, previews the changes, and then syncs. */
export function Sync({ site, id, act, other, isPush, onClose }: Props) {
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
  const tick = (part: Part, isTicked: boolean) => {
    ticked.value = new Set(parts.filter((each) => (each === part ? isTicked : ticked.value.has(each))))
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
            }}
          />
          <Button
            isGhost
            isSmall
            icon="refreshCw"
            onClick={() => {
              isAway.value = !isAway.value
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
        </Changes>
        {some.includes('database') && <Callout kind="warn">{texts.orders(to.name)}</Callout>}
        <p class="quiet">{texts.backedUp}</p>
        {reason && <Callout kind="warn">{reason}</Callout>}
        {source.isKnown && target.isKnown && !reason && (
          <Form
            fields={[{ name: 'typed', label: texts.type(to.slug), hint: texts.hint, autocomplete: 'off' }]}
            button={texts.go}
            isBad
            isForgotten
            submit={async ({ typed, environment, skip }) => {
              if (some.length === 0) throw new Error(texts.nothing)
              if (typed !== to.slug) throw new Error(texts.wrong)
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
