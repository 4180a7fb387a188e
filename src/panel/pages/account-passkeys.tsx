import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Form } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { addPasskey, hasPasskeys } from '../passkeys.ts'
import { passkeysTexts as texts } from '../texts/sign-in.ts'
import { timeOf } from '../time.ts'

/** Passkeys of the account, which replace the password. */
export function Passkeys() {
  const passkeys = useLoad(() => ask(() => api.GET('/v1/passkeys')))
  const isAdding = useSignal(false)
  const remove = (id: number) =>
    attempt(async () => {
      await ask(() => api.DELETE('/v1/passkeys/{id}', { params: { path: { id } } }))
      await passkeys.reload()
    })
  return (
    <Card
      title={texts.title}
      isFlush
      actions={
        hasPasskeys() && (
          <Button
            isSmall
            icon="plus"
            onClick={() => {
              isAdding.value = true
            }}
          >
            {texts.add}
          </Button>
        )
      }
    >
      <p class="quiet body">{hasPasskeys() ? texts.what : texts.notHere}</p>
      <List
        from={passkeys}
        caption={texts.list}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        isStacked
        empty={null}
        row={(each) => [
          each.name,
          each.host_name,
          timeOf(each.created_at),
          timeOf(each.used_at),
          <Button isSmall isBad label={texts.removeOf(each.name)} onClick={remove(each.id)}>
            {texts.remove}
          </Button>,
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
    </Card>
  )
}
