import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { components, paths } from '../../../sdk/api.generated.ts'
import { api, ask, messageOf } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { List } from '../../parts/list.tsx'
import { Select } from '../../parts/select.tsx'
import { logsTexts as texts } from '../../texts/site/logs.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

type Visit = components['schemas']['ServerLogEntry']
type PhpError = components['schemas']['PhpLogEntry']
type WebQuery = NonNullable<paths['/v1/sites/{id}/logs/server']['get']['parameters']['query']>
type PhpQuery = NonNullable<paths['/v1/sites/{id}/logs/php']['get']['parameters']['query']>

const FOLLOW_MS = 2000

interface Read<Entry> {
  readonly logs: readonly Entry[]
  readonly scroll_id: string
}

/** What visitors asked for, and what PHP complains of. */
export function Logs({ id }: PartProps) {
  const kind = useSignal<'web' | 'php'>('web')
  return (
    <section class="sheet">
      <div class="row spread">
        <h2>{texts.title}</h2>
        <fieldset class="row choice" aria-label={texts.which}>
          {(['web', 'php'] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={kind.value === each}
              onClick={() => {
                kind.value = each
              }}
            >
              {texts.kinds[each]}
            </button>
          ))}
        </fieldset>
      </div>
      {kind.value === 'web' ? <WebLog id={id} /> : <PhpLog id={id} />}
    </section>
  )
}

/** The newest entries, again and again while they are followed and somebody looks; older ones page by page. */
function useLog<Entry>(read: (scrollId?: string) => Promise<Read<Entry>>, on: readonly unknown[]) {
  const isFollowed = useSignal(true)
  const got = useSignal<{ data: readonly Entry[] } | undefined>(undefined)
  const fault = useSignal('')
  const scroll = useSignal('')
  /** The newest would take their place. */
  const areOlderShown = useRef(false)
  async function load(scrollId?: string): Promise<void> {
    try {
      const { logs, scroll_id } = await read(scrollId)
      got.value = { data: scrollId ? [...(got.peek()?.data ?? []), ...logs] : logs }
      scroll.value = logs.length ? scroll_id : ''
      fault.value = ''
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const turn = async () => {
      if (!document.hidden) await load()
      if (!isOver && isFollowed.peek()) timer = setTimeout(turn, FOLLOW_MS)
    }
    // a browser slows the clocks of tabs that nobody sees: it is read at once when somebody looks again
    const seen = () => void (document.hidden || !isFollowed.peek() || load())
    if (areOlderShown.current) areOlderShown.current = false
    else void turn()
    document.addEventListener('visibilitychange', seen)
    return () => {
      isOver = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [...on, isFollowed.value])
  const older = () => {
    areOlderShown.current = isFollowed.peek()
    isFollowed.value = false
    void load(scroll.value)
  }
  return { from: { got, fault, reload: load }, isFollowed, scroll, older }
}

type Log = ReturnType<typeof useLog>

const Follow = ({ log }: { readonly log: Pick<Log, 'isFollowed'> }) => (
  <label class="follow">
    <input
      type="checkbox"
      checked={log.isFollowed.value}
      onChange={({ currentTarget }) => {
        log.isFollowed.value = currentTarget.checked
      }}
    />{' '}
    {texts.follow}
  </label>
)

const Older = ({ log }: { readonly log: Pick<Log, 'scroll' | 'older'> }) =>
  log.scroll.value ? (
    <p>
      <Button onClick={log.older}>{texts.older}</Button>
    </p>
  ) : null

function WebLog({ id }: { readonly id: number }) {
  const status = useSignal('')
  const method = useSignal('')
  const address = useSignal('')
  const log = useLog<Visit>(
    async (scroll_id) => {
      const query: WebQuery = {
        ...(status.value && { status: status.value }),
        ...(method.value && { request_type: method.value as NonNullable<WebQuery['request_type']> }),
        ...(address.value && { user_ip: address.value }),
        ...(scroll_id && { scroll_id }),
      }
      return (await ask(() => api.GET('/v1/sites/{id}/logs/server', { params: { path: { id }, query } }))).data
    },
    [id, status.value, method.value, address.value],
  )
  return (
    <>
      <div class="filters">
        <Select label={texts.status} options={texts.statuses} value={status.value} set={(to) => (status.value = to)} />
        <Select label={texts.method} options={texts.methods} value={method.value} set={(to) => (method.value = to)} />
        <label>
          <span>{texts.address}</span>
          <input
            value={address.value}
            onChange={({ currentTarget }) => {
              address.value = currentTarget.value.trim()
            }}
          />
        </label>
        <Follow log={log} />
      </div>
      <List
        from={log.from}
        caption={texts.kinds.web}
        head={texts.webHead}
        empty={texts.noVisits}
        row={(entry) => [
          <time class="nowrap">{timeOf(entry.date)}</time>,
          <code>
            {entry.request_type} {entry.request_url}
          </code>,
          <span class={entry.status >= 500 ? 'fault' : ''}>{entry.status || ''}</span>,
          entry.request_time.toFixed(3),
          [entry.renderer, entry.cached].filter(Boolean).join(', '),
          entry.user_ip,
        ]}
      />
      <Older log={log} />
    </>
  )
}

function PhpLog({ id }: { readonly id: number }) {
  const status = useSignal('')
  const log = useLog<PhpError>(
    async (scroll_id) => {
      const query: PhpQuery = {
        ...(status.value && { status: status.value as NonNullable<PhpQuery['status']> }),
        ...(scroll_id && { scroll_id }),
      }
      return (await ask(() => api.GET('/v1/sites/{id}/logs/php', { params: { path: { id }, query } }))).data
    },
    [id, status.value],
  )
  return (
    <>
      <div class="filters">
        <Select
          label={texts.severity}
          options={texts.severities}
          value={status.value}
          set={(to) => (status.value = to)}
        />
        <Follow log={log} />
      </div>
      <List
        from={log.from}
        caption={texts.kinds.php}
        head={texts.phpHead}
        empty={texts.noErrors}
        row={(entry) => [
          <time class="nowrap">{timeOf(entry.timestamp)}</time>,
          entry.severity,
          <span class="written">{entry.message}</span>,
          <code>{texts.at(entry.file, entry.line)}</code>,
        ]}
      />
      <Older log={log} />
    </>
  )
}
