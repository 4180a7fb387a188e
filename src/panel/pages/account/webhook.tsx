import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CursorPages, placeShown } from '../../parts/cursor-pages.tsx'
import { List } from '../../parts/list.tsx'
import { showSecret } from '../../parts/secret.tsx'
import { attempt, told } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { go } from '../../route.ts'
import { webhooksTexts as texts } from '../../texts/account-pages.ts'
import { timeOf } from '../../time.ts'
import { eventName } from './events.tsx'

type Delivery = components['schemas']['WebhookDelivery']
type Change = components['schemas']['UpdateWebhookBody']

/** A webhook with its deliveries and the answers to them. */
export function WebhookPage({ id }: { readonly id: number }) {
  const params = { path: { id } }
  const query = { after: placeShown(), per_page: 20 }
  const hook = useLoad(() => ask(() => api.GET('/v1/webhooks/{id}', { params })), [id])
  const deliveries = useLoad(
    () => ask(() => api.GET('/v1/webhooks/{id}/deliveries', { params: { ...params, query } })),
    [id, placeShown()],
  )
  const known = hook.got.value?.data
  if (!known) return <p class="fault">{hook.fault.value}</p>
  const change = async (body: Change) => {
    const { data } = await ask(() => api.PUT('/v1/webhooks/{id}', { params, body }))
    if (data.secret !== null) showSecret(texts.secretOf, data.secret)
    await hook.reload()
  }
  const again = (delivery_id: number) =>
    attempt(async () => {
      const path = { id, delivery_id }
      await ask(() => api.POST('/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver', { params: { path } }))
      told(texts.sentAgain)
      await deliveries.reload()
    })
  const test = attempt(async () => {
    await ask(() => api.POST('/v1/webhooks/{id}/test', { params }))
    told(texts.tested)
    await deliveries.reload()
  })
  return (
    <>
      <div class="head">
        <h1>{known.description || known.url}</h1>
        <div class="right">
          <a href="#/account/webhooks" class="button">
            {texts.back}
          </a>
        </div>
      </div>
      <section class="sheet">
        <p>
          <code>{known.url}</code>
        </p>
        {known.disabled_reason && <p class="fault">{known.disabled_reason}</p>}
        <p class="row">
          <Button onClick={test}>{texts.test}</Button>
          <Button onClick={attempt(() => change({ enabled: !known.enabled }))}>
            {texts.switch[`${known.enabled}`]}
          </Button>
          <Button
            onClick={askFirst({
              title: texts.rotate,
              text: texts.rotateIs,
              button: texts.rotate,
              go: () => change({ rotate_secret: true }),
            })}
          >
            {texts.rotate}
          </Button>
          <Button
            isBad
            onClick={askFirst({
              title: texts.delete,
              text: texts.deleteIs,
              button: texts.delete,
              async go() {
                await ask(() => api.DELETE('/v1/webhooks/{id}', { params }))
                go('/account/webhooks')
              },
            })}
          >
            {texts.delete}
          </Button>
        </p>
      </section>
      <Card title={texts.deliveries} isFlush>
        <List
          from={deliveries}
          caption={texts.deliveryLog}
          head={texts.deliveriesHead}
          isStacked
          empty={<p class="quiet body">{texts.noDeliveries}</p>}
          row={(one) => [
            <time dateTime={one.created_at}>{timeOf(one.created_at)}</time>,
            <>
              {eventName(one.type)} <span class="sub">{one.type}</span>
            </>,
            <>
              <span class={`state ${one.state}`}>{texts.states[one.state] ?? one.state}</span>
              {one.next_attempt_at && <p class="quiet">{texts.next(timeOf(one.next_attempt_at))}</p>}
            </>,
            <Attempts of={one} />,
            <Button label={texts.againOf(one.id)} onClick={again(one.id)}>
              {texts.again}
            </Button>,
          ]}
        />
        <CursorPages next={deliveries.got.value?.next} />
      </Card>
    </>
  )
}

/** The answers to its deliveries. */
const Attempts = ({ of }: { readonly of: Delivery }) => (
  <ol class="plain">
    {of.attempts.map((each) => (
      <li key={each.number}>
        {texts.attempt(each.number, each.duration_ms)}
        {each.status ?? texts.noAnswer} <span class="quiet">{each.error ?? each.answer}</span>
      </li>
    ))}
  </ol>
)
