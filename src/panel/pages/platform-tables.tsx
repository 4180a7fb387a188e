import type { components } from '../../sdk/api.generated.ts'
import { Card } from '../parts/card.tsx'
import { List } from '../parts/list.tsx'
import { sizeOf } from '../size.ts'
import { platformTexts as texts } from '../texts/platform.ts'

export type Health = components['schemas']['InstallationHealth']

type Process = Health['processes'][number]
type Budget = Health['processes'][number]['budgets'][number]

/** The current usage. */
export const from = <Row,>(data: readonly Row[]) => ({ got: { value: { data } }, fault: { value: '' } })

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
