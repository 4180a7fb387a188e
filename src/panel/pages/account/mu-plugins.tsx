import { useSignal } from '@preact/signals'
import { api, ask, type Got } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { showWork } from '../../parts/work.ts'
import { muPluginsTexts as texts } from '../../texts/account-pages.ts'
import { timeOf } from '../../time.ts'

/** PHP files that all sites of the account have. */
export function MuPlugins() {
  const query = { after: placeShown(), per_page: 20 }
  const plugins = useLoad(() => ask(() => api.GET('/v1/mu-plugins', { params: { query } })), [placeShown()])
  const isAdding = useSignal(false)
  async function doing(about: string, change: () => Promise<Got<unknown>>): Promise<void> {
    const { operationId } = await change()
    if (operationId !== undefined) showWork(operationId, about, () => void plugins.reload())
    await plugins.reload()
  }
  const pathOf = (id: number) => ({ params: { path: { id } } })
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
        <div class="right">
          <Button
            isMain
            icon="plus"
            onClick={() => {
              isAdding.value = true
            }}
          >
            {texts.add}
          </Button>
        </div>
      </div>
      <List
        from={plugins}
        caption={texts.title}
        head={texts.head}
        isStacked
        empty={
          <div class="card">
            <Empty icon="package" title={texts.emptyTitle} text={texts.empty} />
          </div>
        }
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
            button={texts.add}
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
