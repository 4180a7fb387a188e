import { useSignal } from '@preact/signals'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Form } from '../../parts/form.tsx'
import { List } from '../../parts/list.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { webhooksTexts as texts } from '../../texts/account-pages.ts'
import { timeOf } from '../../time.ts'
import { allEvents, EventBoxes, eventName } from './events.tsx'
import { WebhookPage } from './webhook.tsx'

/** The webhooks of the account, or one of them with its deliveries. */
export function Webhooks({ rest: [id] }: { readonly rest: readonly string[] }) {
  return id === undefined ? <All /> : <WebhookPage key={id} id={Number(id)} />
}

function All() {
  const query = { after: placeShown(), per_page: 20 }
  const webhooks = useLoad(() => ask(() => api.GET('/v1/webhooks', { params: { query } })), [placeShown()])
  const isMaking = useSignal(false)
  return (
    <>
      <div class="head">
        <h1>{texts.title}</h1>
        <div class="right">
          <Button
            isMain
            icon="plus"
            onClick={() => {
              isMaking.value = true
            }}
          >
            {texts.make}
          </Button>
        </div>
      </div>
      <List
        from={webhooks}
        caption={texts.title}
        head={texts.head}
        hiddenHeads={texts.hiddenHeads}
        isStacked
        empty={
          <div class="card">
            <Empty icon="webhook" title={texts.emptyTitle} text={texts.empty} />
          </div>
        }
        row={(hook) => [
          <>
            <code>{hook.url}</code>
            {hook.description && <p class="quiet">{hook.description}</p>}
          </>,
          hook.event_types === null ? texts.all : texts.of(hook.event_types.map(eventName)),
          <>
            <span class={`badge ${hook.enabled ? 'good' : ''}`}>{hook.enabled ? texts.enabled : texts.disabled}</span>
            {hook.disabled_reason && <p class="fault">{hook.disabled_reason}</p>}
            {hook.failing_since && <p class="fault">{texts.failing(timeOf(hook.failing_since))}</p>}
          </>,
          <a href={`#/account/webhooks/${hook.id}`} aria-label={texts.deliveriesOf(hook.url)}>
            {texts.deliveries}
          </a>,
        ]}
      />
      <CursorPages isOldestFirst next={webhooks.got.value?.next} />
      {isMaking.value && (
        <Dialog
          title={texts.make}
          isWide
          onClose={() => {
            isMaking.value = false
          }}
        >
          <Form
            fields={[
              { name: 'url', label: texts.url, type: 'url', autocomplete: 'off' },
              { name: 'description', label: texts.description, isOptional: true },
            ]}
            button={texts.make}
            submit={async ({ url = '', description = '', ...values }) => {
              const named = allEvents.filter((type) => values[type] === 'true')
              const body = { url, description, event_types: named.length > 0 ? named : null }
              const { data } = await ask(() => api.POST('/v1/webhooks', { body }))
              isMaking.value = false
              showSecret(texts.secretOf, data.secret)
              await webhooks.reload()
            }}
          >
            <EventBoxes />
          </Form>
        </Dialog>
      )}
    </>
  )
}
