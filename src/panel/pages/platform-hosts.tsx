import { useSignal } from '@preact/signals'
import { api, ask } from '../api.ts'
import { askFirst } from '../parts/ask-first.tsx'
import { Button } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Menu, MenuItem } from '../parts/menu.tsx'
import { attempt, told } from '../parts/toasts.tsx'
import { showWork } from '../parts/work.ts'
import { replaceTexts } from '../texts/hosts.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { timeOf } from '../time.ts'
import { Rebalance } from './platform-rebalance.tsx'
import { ReplaceDialog } from './platform-replace.tsx'
import { PlatformSwitch } from './platform-switch.tsx'
import { from, type Health } from './platform-tables.tsx'

type Host = Health['hosts'][number]

const hostSorts = [
  { key: 'host', by: ({ name }: Host) => name },
  { key: 'sites', by: ({ sites }: Host) => sites, isLargestFirst: true },
  { key: 'seen', by: ({ seen_at }: Host) => seen_at },
  { key: 'status', by: ({ answers, state }: Host) => `${answers ? 1 : 0} ${state}` },
]

interface HostsProps {
  readonly of: Health['hosts']
  /** Reloads the page's data. */
  onChange(): unknown
}

/** All hosts with their actions. */
export const Hosts = ({ of: hosts, onChange }: HostsProps) => (
  <Card
    title={texts.hosts}
    actions={hosts.filter(takesSites).length > 1 && <Rebalance onChange={onChange} />}
    class="s12"
    isFlush
  >
    <List
      from={from(hosts)}
      caption={texts.hosts}
      head={texts.hostsHead}
      hiddenHeads={texts.hostsHead.slice(-1)}
      columns={['wide', 'whole', 'whole', '', 'actions']}
      sorts={hostSorts}
      kept="hosts"
      empty={texts.noHosts}
      isStacked
      row={(host) => [
        <>
          <b>{host.name}</b> {host.state !== 'active' && <span class="badge warn">{texts.hostStates[host.state]}</span>}{' '}
          {host.drain?.paused && <span class="badge warn">{texts.paused}</span>}
        </>,
        <>
          {texts.sitesOf(host.sites, host.max_sites)}
          {host.deleted_sites > 0 && <p class="quiet small">{texts.inTrash(host.deleted_sites, untilOf(host))}</p>}
        </>,
        host.seen_at === null ? texts.never : timeOf(host.seen_at),
        <span class={`badge ${host.answers ? 'good' : 'bad'}`}>{texts.answers[`${host.answers}`]}</span>,
        <HostActions
          key="action"
          of={host}
          others={hosts.filter((each) => each !== host && takesSites(each))}
          onChange={onChange}
        />,
      ]}
    />
  </Card>
)

const untilOf = ({ deleted_until }: Host): string | undefined => (deleted_until ? timeOf(deleted_until) : undefined)

const takesSites = ({ state, answers }: Health['hosts'][number]): boolean => state === 'active' && answers

const hasSites = ({ sites, deleted_sites }: Host): boolean => sites > 0 || deleted_sites > 0

interface HostProps {
  readonly of: Health['hosts'][number]
  /** Other hosts that accept new sites. */
  readonly others: readonly Host[]
  onChange(): unknown
}

const HostActions = (props: HostProps) => {
  const { of: host, others } = props
  return (
    <span class="row acts">
      {host.state === 'lost' && <Return {...props} />}
      {host.state !== 'lost' && host.state !== 'draining' && others.length > 0 && hasSites(host) && (
        <Drain {...props} />
      )}
      {host.drain && <Pause {...props} drain={host.drain} />}
      {host.state !== 'lost' && <Cordon {...props} />}
      <HostMenu {...props} />
    </span>
  )
}

/** Rare actions. A host that does not report can be declared lost or removed, and others can be replaced. */
function HostMenu({ of: host, others, onChange }: HostProps) {
  const { name, state, sites, answers } = host
  const isReplacing = useSignal(false)
  const params = { path: { name } }
  const lose = async () => {
    await ask(() => api.PUT('/v1/installation/hosts/{name}/lost', { params, body: { confirm: name } }))
    await onChange()
    told(texts.didLose(name))
  }
  const remove = async () => {
    await ask(() => api.DELETE('/v1/installation/hosts/{name}', { params }))
    await onChange()
    told(texts.didRemoveHost(name))
  }
  const loss = { title: texts.loseQuestion(name), text: texts.loseEffect(sites), button: texts.lose, name, go: lose }
  const removal = { title: texts.removeQuestion(name), text: texts.removeEffect, button: texts.removeHost, go: remove }
  const hasOther = state !== 'lost' && others.length > 0
  const canReplace = answers && hasOther && state !== 'draining'
  const canLose = !answers && hasOther
  const canRemove = !answers && !hasSites(host)
  if (!canReplace && !canLose && !canRemove) return null
  return (
    <>
      <Menu of="loseHost" label={texts.moreOfHost(name)} class="ghost sm only-icon" button={<Icon name="ellipsis" />}>
        {canReplace && (
          <MenuItem icon="server" of="replaceHost" onClick={() => (isReplacing.value = true)}>
            {replaceTexts.item}
          </MenuItem>
        )}
        {canLose && (
          <MenuItem icon="triangleAlert" isBad of="loseHost" onClick={askFirst(loss)}>
            {texts.lose}
          </MenuItem>
        )}
        {canRemove && (
          <MenuItem icon="trash2" isBad of="removeHost" onClick={askFirst(removal)}>
            {texts.removeHost}
          </MenuItem>
        )}
      </Menu>
      {isReplacing.value && (
        <ReplaceDialog of={host} others={others} onChange={onChange} onClose={() => (isReplacing.value = false)} />
      )}
    </>
  )
}

function Return({ of: { name }, onChange }: HostProps) {
  const params = { path: { name } }
  const bringBack = attempt(async () => {
    await ask(() => api.PUT('/v1/installation/hosts/{name}/return', { params }))
    await onChange()
    told(texts.didReturn(name))
  })
  return (
    <Button isSmall of="returnHost" label={`${texts.returnHost}: ${name}`} onClick={bringBack}>
      {texts.returnHost}
    </Button>
  )
}

function Drain({ of: host, onChange }: HostProps) {
  const { name, sites, deleted_sites } = host
  const drain = async () => {
    const params = { path: { name } }
    const { operationId } = await ask(() => api.PUT('/v1/installation/hosts/{name}/drain', { params, body: {} }))
    if (operationId !== undefined) showWork(operationId, texts.drainOf(name), onChange)
    await onChange()
  }
  const kept = deleted_sites > 0 ? ` ${texts.trashMoves(deleted_sites, untilOf(host))}` : ''
  const question = { title: texts.drainQuestion(name), text: `${texts.drainEffect(sites)}${kept}`, button: texts.drain }
  return (
    <Button isSmall of="drainHost" label={`${texts.drain}: ${name}`} onClick={askFirst({ ...question, go: drain })}>
      {texts.drain}
    </Button>
  )
}

/** Pauses the moves of a host that is being emptied, or lets them continue. */
function Pause({
  of: { name },
  drain: { operation: id, paused },
  onChange,
}: HostProps & { readonly drain: NonNullable<Host['drain']> }) {
  const params = { path: { id } }
  const change = attempt(async () => {
    await ask(() => api.POST(paused ? '/v1/operations/{id}/continue' : '/v1/operations/{id}/pause', { params }))
    await onChange()
    told(paused ? texts.didGoOn(name) : texts.didPause(name))
  })
  const text = paused ? texts.goOn : texts.pause
  return (
    <Button isSmall of={paused ? 'continueOperation' : 'pauseOperation'} label={`${text}: ${name}`} onClick={change}>
      {text}
    </Button>
  )
}

function Cordon({ of: { name, state, sites }, others, onChange }: HostProps) {
  const path = { params: { path: { name } } }
  return (
    <PlatformSwitch
      about={name}
      isOn={state !== 'active'}
      question={{ title: texts.cordonQuestion(name), text: texts.cordonEffect(sites, others.length) }}
      on={{
        ...{ of: 'cordonHost', name: texts.cordon, did: texts.didCordon(name) },
        go: () => ask(() => api.PUT('/v1/installation/hosts/{name}/cordon', path)),
      }}
      off={{
        ...{ of: 'uncordonHost', name: texts.uncordon, did: texts.didUncordon(name) },
        go: () => ask(() => api.PUT('/v1/installation/hosts/{name}/uncordon', path)),
      }}
      onChange={onChange}
    />
  )
}
