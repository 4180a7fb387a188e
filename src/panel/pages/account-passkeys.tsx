import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { addPasskey, hasPasskeys } from '../passkeys.ts'
import { passkeysTexts as texts } from '../texts/sign-in.ts'
import { timeOf } from '../time.ts'

/** Keys of devices, in place of the password. */
export function Passkeys() {
  const passkeys = useLoad(() => ask(() => api.GET('/v1/passkeys')))
  const isAdding = useSignal(false)
  const remove = (id: number) =>
    attempt(async () => {
      await ask(() => api.DELETE('/v1/passkeys/{id}', { params: { path: { id } } }))
      await passkeys.reload()
    })
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>{texts.title}</h2>
        {hasPasskeys() && (
          <button
            type="button"
            onClick={() => {
              isAdding.value = true
            }}
          >
            {texts.add}
          </button>
        )}
      </div>
      <p class="quiet">{hasPasskeys() ? texts.what : texts.notHere}</p>
      <List
        from={passkeys}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={(each) => [
          each.name,
          each.host_name,
          timeOf(each.created_at),
          timeOf(each.used_at),
          <button type="button" class="bad" aria-label={texts.removeOf(each.name)} onClick={remove(each.id)}>
            {texts.remove}
          </button>,
        ]}
      />
      {isAdding.value && (
        <Dialog
          title={texts.add}
          onClose={() => {
            isAdding.value = false
          }}
        >
          <Form
            fields={[{ name: 'name', label: texts.name, autocomplete: 'off' }]}
            button={texts.addIt}
            submit={async ({ name = '' }) => {
              await addPasskey(name)
              isAdding.value = false
              told(texts.added)
              await passkeys.reload()
            }}
          />
        </Dialog>
      )}
    </section>
  )
}
