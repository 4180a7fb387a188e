import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { List, Pages } from '../parts/list.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { useLoad } from '../parts/use-load.ts'
import { operationsTexts as texts } from '../texts/operations.ts'
import { timeOf } from '../time.ts'

/** Background work of an account, or of one site: how it fares, and what can be done about it. */
export function Operations({ siteId }: { readonly siteId?: number }) {
  const page = useSignal(1)
  const query = { page: page.value, per_page: 20, ...(siteId !== undefined && { site_id: siteId }) }
  const operations = useLoad(() => ask(() => api.GET('/v1/operations', { params: { query } })), [page.value])
  const act = (verb: 'cancel' | 'retry' | 'undo', id: number) =>
    attempt(async () => {
      await ask(() => api.POST(`/v1/operations/{id}/${verb}`, { params: { path: { id } } }))
      told(texts.said[verb])
      await operations.reload()
    })
  return (
    <>
      <List
        from={operations}
        caption={texts.title}
        head={texts.head}
        empty={texts.empty}
        row={(one) => [
          <>
            {one.type}
            {one.error && <p class="fault">{one.error}</p>}
            {one.steps.map(({ name, warning }) => warning && <p key={name}>{warning}</p>)}
          </>,
          <span class={`state ${one.state}`}>{one.state}</span>,
          timeOf(one.createdAt),
          texts.percent(one.progress),
          <span class="row">
            {one.actions?.map(({ action, reason }) => (
              <Button
                key={action}
                label={texts.actionOf(texts.actions[action], one.type)}
                refusal={reason}
                onClick={act(action, one.id)}
              >
                {texts.actions[action]}
              </Button>
            ))}
          </span>,
        ]}
      />
      <Pages page={operations.got.value?.page} turn={(to) => (page.value = to)} />
    </>
  )
}

export const OperationsPage = () => (
  <>
    <h1>{texts.title}</h1>
    <Operations />
  </>
)
