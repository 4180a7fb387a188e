import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { pluginsTexts as texts } from '../../texts/site/plugins.ts'

import type { PartProps } from './part.ts'

export function Plugins({ id, act }: PartProps) {
  const params = { path: { id } }
  const plugins = useLoad(() => ask(() => api.GET('/v1/sites/{id}/plugins', { params })))
  const isAdding = useSignal(false)
  const change = (about: string, path: string, where: '/activate' | '/deactivate' | '') =>
    act(about, () => ask(() => api.PUT(`/v1/sites/{id}/plugins${where}`, { params, body: { plugins: [{ path }] } })))
  return (
    <section class="sheet">
      <h2>{texts.title}</h2>
      <Button of="installPlugins" onClick={() => (isAdding.value = true)}>
        {texts.install}
      </Button>
      <List
        from={plugins}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={({ name, title, status, version, update, update_version }) => [
          title || name,
          status,
          version,
          <span class="row">
            {update === 'available' && (
              <Button of="updatePlugins" onClick={change(texts.about.update(name), name, '')}>
                {texts.updateTo(update_version ?? '')}
              </Button>
            )}
            {status === 'active' && (
              <Button of="deactivatePlugins" onClick={change(texts.about.deactivate(name), name, '/deactivate')}>
                {texts.deactivate}
              </Button>
            )}
            {status === 'inactive' && (
              <>
                <Button of="activatePlugins" onClick={change(texts.about.activate(name), name, '/activate')}>
                  {texts.activate}
                </Button>
                <Button
                  of="deletePlugins"
                  isBad
                  label={texts.about.delete(name)}
                  onClick={askFirst({
                    title: texts.about.delete(name),
                    text: texts.deleteIs,
                    button: texts.delete,
                    async go() {
                      const body = { plugins: [{ path: name }] }
                      const got = await ask(() => api.DELETE('/v1/sites/{id}/plugins', { params, body }))
                      act(texts.about.delete(name), async () => got)()
                    },
                  })}
                >
                  {texts.delete}
                </Button>
              </>
            )}
          </span>,
        ]}
      />
      {isAdding.value && (
        <Dialog title={texts.install} onClose={() => (isAdding.value = false)}>
          <Form
            fields={[{ name: 'path', label: texts.path }]}
            button={texts.installIt}
            submit={async ({ path = '' }) => {
              const body = { plugins: [{ path, activate: true }] }
              const got = await ask(() => api.POST('/v1/sites/{id}/plugins', { params, body }))
              isAdding.value = false
              act(texts.about.install(path), async () => got)()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}
