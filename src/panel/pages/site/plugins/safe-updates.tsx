import { useSignal } from '@preact/signals'
import type { components } from '../../../../sdk/api.generated.ts'
import { api, ask } from '../../../api.ts'
import { changes } from '../../../live.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Callout } from '../../../parts/callout.tsx'
import type { Values } from '../../../parts/form.tsx'
import { List } from '../../../parts/list.tsx'
import { attempt } from '../../../parts/toasts.tsx'
import { itemsOf, UpdateReport, updateBadges } from '../../../parts/update-report.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { showWork } from '../../../parts/work.ts'
import { safeUpdatesTexts as texts } from '../../../texts/site/safe-updates.ts'
import { timeOf } from '../../../time.ts'
import { nameOf } from './plugin-changes.ts'
import { SafeUpdateSettings } from './safe-update-settings.tsx'

type Update = components['schemas']['SafeUpdate']

const MOST_SHOWN = 5

/** Starts a safe update of these plugins, or of all plugins and themes with an update. */
export const updateSafely = (id: number, plugins?: { path: string }[]): (() => Promise<void>) =>
  attempt(() => start(id, plugins ? { plugins } : { all: true }, texts.about(plugins && nameOf(plugins))))

async function start(id: number, body: components['schemas']['SafeUpdateOrder'], about: string): Promise<void> {
  const { operationId } = await ask(() => api.POST('/v1/sites/{id}/safe-updates', { params: { path: { id } }, body }))
  const reload = () => void changes.value++
  if (operationId !== undefined) showWork(operationId, about, reload)
  reload()
}

/** Offers a newer release of WordPress. Its undo can lose content, so a question says when. */
function WordPressUpdate({ id }: { readonly id: number }) {
  const update = useLoad(
    () => ask(() => api.GET('/v1/sites/{id}/wordpress-update', { params: { path: { id } } })),
    [id],
  )
  const { installed, version, obstacle } = update.got.value?.data ?? {}
  if (obstacle) return <Callout>{obstacle}</Callout>
  if (!version) return null
  const title = texts.updateWordPress(version)
  const question = {
    ...{ title: texts.wordPressQuestion(version), text: texts.wordPressIs, button: title, isSafe: true },
    fields: [{ name: 'all', type: 'checkbox' as const, label: texts.allToo, isChecked: true }],
    go: ({ all }: Values) => start(id, { core: version, ...(all && { all: true }) }, title),
  }
  return (
    <Callout>
      <b>{texts.wordPressDue(version)}</b> {installed && texts.wordPressHas(installed)}
      <p>
        <Button isSmall icon="shield" of="startSafeUpdate core" onClick={askFirst(question)}>
          {title}
        </Button>
      </p>
    </Callout>
  )
}

/** Explains safe updates, and shows the last ones of a site with their reports. */
export function SafeUpdates({ id }: { readonly id: number }) {
  const updates = useLoad(
    () =>
      ask(() => api.GET('/v1/sites/{id}/safe-updates', { params: { path: { id }, query: { per_page: MOST_SHOWN } } })),
    [id],
  )
  const shown = useSignal<Update | undefined>(undefined)
  const hasAny = (updates.got.value?.data.length ?? 0) > 0
  return (
    <>
      <Callout>
        <b>{texts.title}.</b> {texts.is}
        <p>
          <SafeUpdateSettings id={id} />
        </p>
      </Callout>
      <WordPressUpdate id={id} />
      {hasAny && (
        <List
          from={updates}
          caption={texts.table}
          head={texts.head}
          hiddenHeads={texts.hiddenHeads}
          columns={['', 'wide', 'extra', 'below']}
          isStacked
          empty=""
          row={(update) => [
            <span class={`badge ${updateBadges[update.state]}`}>{texts.states[update.state]}</span>,
            <span>
              {itemsOf(update)}
              {update.reason !== null && <span class="sub">{update.reason}</span>}
            </span>,
            timeOf(update.created_at),
            <Button
              isSmall
              label={texts.reportOf(timeOf(update.created_at))}
              onClick={() => {
                shown.value = update
              }}
            >
              {texts.report}
            </Button>,
          ]}
        />
      )}
      {shown.value && <UpdateReport id={id} update={shown.value} onClose={() => (shown.value = undefined)} />}
    </>
  )
}
