import { useSignal } from '@preact/signals'
import { api, ask, type Got } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { Progress } from '../../parts/progress.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { muPluginsTexts as texts } from '../../texts/account-parts.ts'
import { timeOf } from '../../time.ts'

/** PHP files that all sites of the account have. */
export function MuPlugins() {
  const query = { after: placeShown(), per_page: 20 }
  const plugins = useLoad(() => ask(() => api.GET('/v1/mu-plugins', { params: { query } })), [placeShown()])
  const work = useSignal<{ id: number; about: string } | undefined>(undefined)
  const isAdding = useSignal(false)
  async function doing(about: string, change: () => Promise<Got<unknown>>): Promise<void> {
    const { operationId } = await change()
    work.value = operationId === undefined ? undefined : { id: operationId, about }
    await plugins.reload()
  }
  const pathOf = (id: number) => ({ params: { path: { id } } })
  return (
    <>
      <div class="row spread">
        <h1>{texts.title}</h1>
        <Button
          onClick={() => {
            isAdding.value = true
          }}
        >
          {texts.add}
        </Button>
      </div>
      <p class="quiet">{texts.what}</p>
      {work.value && <Progress key={work.value.id} {...work.value} onEnd={() => void plugins.reload()} />}
      <List
        from={plugins}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={({ id, slug, path, created, existingSites, futureSites }) => [
          <code>{slug}</code>,
          <code>{path}</code>,
          existingSites ? texts.where[futureSites ? 'both' : 'existing'] : texts.where[futureSites ? 'future' : 'none'],
          <time dateTime={created}>{timeOf(created)}</time>,
          <span class="row">
            <Button
              label={texts.refreshOf(slug)}
              onClick={attempt(() =>
                doing(texts.added(slug), () => ask(() => api.PUT('/v1/mu-plugins/{id}', pathOf(id)))),
              )}
            >
              {texts.refresh}
            </Button>
            <Button
              isBad
              label={texts.deleteOf(slug)}
              onClick={askFirst({
                title: texts.deleteOf(slug),
                text: texts.deleteIs,
                button: texts.delete,
                go: () => doing(texts.deleteOf(slug), () => ask(() => api.DELETE('/v1/mu-plugins/{id}', pathOf(id)))),
              })}
            >
              {texts.delete}
            </Button>
          </span>,
        ]}
      />
      <CursorPages isOldestFirst next={plugins.got.value?.next} />
      {isAdding.value && (
        <Dialog
          title={texts.add}
          onClose={() => {
            isAdding.value = false
          }}
        >
          <Form
            fields={[
              { name: 'path', label: texts.path, type: 'url', autocomplete: 'off' },
              { name: 'existing', label: texts.existing, type: 'checkbox', isChecked: true },
              { name: 'future', label: texts.future, type: 'checkbox', isChecked: true },
            ]}
            button={texts.addIt}
            submit={async ({ path = '', existing, future }) => {
              const body = { path, existing_sites: existing === 'true', future_sites: future === 'true' }
              await doing(texts.added(path), () => ask(() => api.POST('/v1/mu-plugins', { body })))
              isAdding.value = false
            }}
          />
        </Dialog>
      )}
    </>
  )
}
