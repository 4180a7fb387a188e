import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { askFirst } from '../parts/ask-first.tsx'
import { Button } from '../parts/button.tsx'
import { Card } from '../parts/card.tsx'
import { List } from '../parts/list.tsx'
import { showWork } from '../parts/work.ts'
import { sizeOf } from '../size.ts'
import { platformTexts as texts } from '../texts/platform.ts'
import { timeOf } from '../time.ts'
import { PlatformSwitch } from './platform-switch.tsx'

export type Health = components['schemas']['InstallationHealth']

type Host = Health['hosts'][number]
type Process = Health['processes'][number]
type Budget = Health['processes'][number]['budgets'][number]

/** The current usage. */
const from = <Row,>(data: readonly Row[]) => ({ got: { value: { data } }, fault: { value: '' } })

const hostSorts = [
  { key: 'host', by: ({ name }: Host) => name },
  { key: 'sites', by: ({ sites }: Host) => sites, isLargestFirst: true },
  { key: 'seen', by: ({ seen_at }: Host) => seen_at },
  { key: 'status', by: ({ answers, state }: Host) => `${answers ? 1 : 0} ${state}` },
]

const processSorts = [
  { key: 'process', by: ({ process }: Process) => process },
  { key: 'memory', by: ({ resident_bytes }: Process) => resident_bytes, isLargestFirst: true },
  { key: 'disk', by: ({ disk_free_bytes }: Process) => disk_free_bytes },
  { key: 'fullest', by: ({ budgets }: Process) => Math.max(0, ...budgets.map(shareOf)), isLargestFirst: true },
  { key: 'refused', by: refusalsOf, isLargestFirst: true },
]

const budgetSorts = [
  { key: 'limit', by: ({ name }: Budget) => name },
  { key: 'used', by: ({ used }: Budget) => used, isLargestFirst: true },
  { key: 'maximum', by: ({ limit }: Budget) => limit, isLargestFirst: true },
  { key: 'refused', by: ({ refusals }: Budget) => refusals, isLargestFirst: true },
]

interface HostsProps {
  readonly of: Health['hosts']
  onChange(): unknown
}

export const Hosts = ({ of: hosts, onChange }: HostsProps) => (
  <>
    <Card title={texts.hosts} class="s12" isFlush>
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
            <b>{host.name}</b>{' '}
            {host.state !== 'active' && <span class="badge warn">{texts.hostStates[host.state]}</span>}
          </>,
          texts.sitesOf(host.sites, host.max_sites),
          host.seen_at === null ? texts.never : timeOf(host.seen_at),
          <span class={`badge ${host.answers ? 'good' : 'bad'}`}>{texts.answers[`${host.answers}`]}</span>,
          <HostActions
            key="action"
            of={host}
            others={hosts.filter((each) => each !== host && takesSites(each)).length}
            onChange={onChange}
          />,
        ]}
      />
    </Card>
    <p class="quiet s12">
      {texts.hostCommands} <code>{texts.hostCommand}</code>
    </p>
  </>
)

const takesSites = ({ state, answers }: Health['hosts'][number]): boolean => state === 'active' && answers

interface HostProps {
  readonly of: Health['hosts'][number]
  /** Other hosts that accept new sites. */
  readonly others: number
  onChange(): unknown
}

const HostActions = (props: HostProps) =>
  props.of.state === 'lost' ? null : (
    <span class="row acts">
      {props.others > 0 && props.of.sites > 0 && <Drain {...props} />}
      <Cordon {...props} />
    </span>
  )

function Drain({ of: { name, sites }, onChange }: HostProps) {
  const drain = async () => {
    const params = { path: { name } }
    const { operationId } = await ask(() => api.PUT('/v1/installation/hosts/{name}/drain', { params, body: {} }))
    if (operationId !== undefined) showWork(operationId, texts.drainOf(name), onChange)
    await onChange()
  }
  const question = { title: texts.drainQuestion(name), text: texts.drainEffect(sites), button: texts.drain }
  return (
    <Button isSmall of="drainHost" label={`${texts.drain}: ${name}`} onClick={askFirst({ ...question, go: drain })}>
      {texts.drain}
    </Button>
  )
}

function Cordon({ of: { name, state, sites }, others, onChange }: HostProps) {
  const path = { params: { path: { name } } }
  return (
    <PlatformSwitch
      about={name}
      isOn={state !== 'active'}
      question={{ title: texts.cordonQuestion(name), text: texts.cordonEffect(sites, others) }}
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

export const Queues = ({ of: queues }: { readonly of: Health['queues'] }) => (
  <Card title={texts.queues} class="s12" isFlush>
    <List
      from={from(queues)}
      caption={texts.queues}
      head={texts.queuesHead}
      empty={texts.noQueues}
      columns={['wide', 'num', 'num']}
      row={({ runner, due, oldest_seconds }) => [
        nameIn(texts.runners, runner),
        due.toLocaleString(),
        texts.seconds(oldest_seconds),
      ]}
    />
  </Card>
)

export const Processes = ({ of: processes }: { readonly of: Health['processes'] }) => (
  <>
    <Card title={texts.processes} isFlush>
      <List
        from={from(processes)}
        caption={texts.processes}
        head={texts.processesHead}
        empty={texts.noProcesses}
        sorts={processSorts}
        kept="processes"
        isStacked
        row={(each) => [
          <b key="name">{each.process}</b>,
          sizeOf(each.resident_bytes),
          texts.free(sizeOf(each.disk_free_bytes)),
          fullest(each.budgets),
          texts.refused(refusalsOf(each)),
        ]}
      />
    </Card>
    {processes.map(({ process, budgets }) => (
      <details key={process} class="card">
        <summary class="body">{texts.budgetsOf(process)}</summary>
        <List
          from={from(budgets.toSorted((left, right) => shareOf(right) - shareOf(left)))}
          caption={texts.budgetsOf(process)}
          head={texts.budgetsHead}
          empty={texts.none}
          columns={['wide', 'num', 'num', 'num']}
          sorts={budgetSorts}
          sortName="limits"
          row={({ name, used, limit, refusals }) => [
            name,
            used.toLocaleString(),
            limit.toLocaleString(),
            refusals.toLocaleString(),
          ]}
        />
      </details>
    ))}
  </>
)

/** Columns that appear only when something is wrong. */
export const Names = ({ of: { shared_domain: shared, taken } }: { readonly of: Health['names'] }) =>
  shared === null && taken.length === 0 ? null : (
    <Card title={texts.names}>
      {shared !== null && <p class="fault">{texts.shared(shared)}</p>}
      {taken.length > 0 && (
        <>
          <p>{texts.taken}</p>
          <List
            from={from(taken)}
            caption={texts.names}
            head={texts.takenHead}
            empty={texts.none}
            row={({ name, kind, site, account }) => [name, nameIn(texts.takenKinds, kind), site ?? '', account]}
          />
        </>
      )}
    </Card>
  )

const nameIn = (names: Readonly<Record<string, string>>, kind: string): string => names[kind] ?? kind

function shareOf({ used, limit }: Budget): number {
  return limit > 0 ? used / limit : 0
}

function refusalsOf({ budgets }: Process): number {
  return budgets.reduce((all, { refusals }) => all + refusals, 0)
}

function fullest(budgets: readonly Budget[]): string {
  const [most] = budgets.toSorted((left, right) => shareOf(right) - shareOf(left))
  return most ? texts.fullest(most.name, Math.round(shareOf(most) * 100)) : texts.none
}
