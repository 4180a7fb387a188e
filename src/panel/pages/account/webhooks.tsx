import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form } from '../../parts/form.tsx'
import { List, Pages } from '../../parts/list.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { webhooksTexts as texts } from '../../texts/account-parts.ts'
import { timeOf } from '../../time.ts'
import { WebhookPage } from './webhook.tsx'

/** Programs that are told what happens, or one of them with what it was told. */
export function Webhooks({ rest: [id] }: { readonly rest: readonly string[] }) {
  return id === undefined ? <All /> : <WebhookPage key={id} id={Number(id)} />
}

function All() {
  const page = useSignal(1)
  const query = { page: page.value, per_page: 20 }
  const webhooks = useLoad(() => ask(() => api.GET('/v1/webhooks', { params: { query } })), [page.value])
  const isMaking = useSignal(false)
  return (
    <>
      <div class="row spread">
        <h1>{texts.title}</h1>
        <Button
          onClick={() => {
            isMaking.value = true
          }}
        >
          {texts.make}
        </Button>
      </div>
      <List
        from={webhooks}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={(hook) => [
          <>
            <code>{hook.url}</code>
            {hook.description && <p class="quiet">{hook.description}</p>}
          </>,
          hook.event_types === null ? texts.all : texts.of(hook.event_types),
          <>
            <span class={hook.enabled ? 'succeeded' : 'failed'}>{hook.enabled ? texts.enabled : texts.disabled}</span>
            {hook.disabled_reason && <p class="fault">{hook.disabled_reason}</p>}
            {hook.failing_since && <p class="fault">{texts.failing(timeOf(hook.failing_since))}</p>}
          </>,
          <a href={`#/account/webhooks/${hook.id}`} aria-label={texts.deliveriesOf(hook.url)}>
            {texts.deliveries}
          </a>,
        ]}
      />
      <Pages
        page={webhooks.got.value?.page}
        turn={(to) => {
          page.value = to
        }}
      />
      {isMaking.value && (
        <Dialog
          title={texts.make}
          onClose={() => {
            isMaking.value = false
          }}
        >
          <Form
            fields={[
              { name: 'url', label: texts.url, type: 'url', autocomplete: 'off' },
              { name: 'description', label: texts.description, isOptional: true },
              { name: 'events', label: texts.events, isOptional: true, autocomplete: 'off' },
            ]}
            button={texts.makeIt}
            submit={async ({ url = '', description = '', events = '' }) => {
              const named = events.split(/[\s,]+/).filter(Boolean)
              const body = { url, description, event_types: named.length > 0 ? named : null }
              const { data } = await ask(() => api.POST('/v1/webhooks', { body }))
              isMaking.value = false
              showSecret(texts.secretOf, data.secret)
              await webhooks.reload()
            }}
          />
        </Dialog>
      )}
    </>
  )
}
