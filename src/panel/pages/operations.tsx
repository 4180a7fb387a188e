import type { components } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { CursorPages, placeShown } from '../parts/cursor-pages.tsx'
import { Empty } from '../parts/empty.tsx'
import { ExportCsv } from '../parts/export-csv.tsx'
import { type Filter, Filters, filterOf } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { OperationActions } from '../parts/operation-actions.tsx'
import { useLoad } from '../parts/use-load.ts'
import { currentStep, operationTitle, operationTypes } from '../texts/operation-names.ts'
import { operationsTexts as texts } from '../texts/operations.ts'
import { timeOf } from '../time.ts'

type Operation = components['schemas']['Operation']
type State = Operation['state']

const PER_PAGE = 25
const MOST_PER_PAGE = 50

const filters: readonly Filter[] = [
  { name: 'type', label: texts.type, options: operationTypes },
  { name: 'state', label: texts.state, options: texts.states },
]

/** Background operations of an account, or of one site, with their progress and possible actions. */
export function Operations({ siteId }: { readonly siteId?: number }) {
  const [type, state] = [filterOf('type'), filterOf('state')]
  const read = (after: number, per_page: number) => {
    const query = {
      ...{ after, per_page },
      ...(siteId !== undefined && { site_id: siteId }),
      ...(type && { type }),
      ...(state in texts.states && { state: state as State }),
    }
    return ask(() => api.GET('/v1/operations', { params: { query } }))
  }
  const operations = useLoad(() => read(placeShown(), PER_PAGE), [siteId, placeShown(), type, state])
  const isOfAll = siteId === undefined
  return (
    <>
      <div class="row spread top-aligned">
        <Filters of={filters} />
        <ExportCsv
          name={texts.file}
          head={texts.csv}
          read={(after) => read(after, MOST_PER_PAGE)}
          row={(one) => [
            ...[String(one.id), operationTitle(one), one.siteName ?? '', texts.by(one.accountEmail)],
            ...[texts.states[one.state] ?? one.state, one.createdAt, one.finishedAt ?? '', one.error ?? ''],
          ]}
        />
      </div>
      <List
        from={operations}
        caption={texts.title}
        head={isOfAll ? texts.head : texts.siteHead}
        columns={isOfAll ? ['wide', '', '', 'extra', 'actions'] : ['wide', '', 'extra', 'actions']}
        isCards
        isStacked
        empty={
          <div class="card">
            {type || state || placeShown() ? (
              <Empty icon="search" title={texts.noneTitle} text={texts.none} />
            ) : (
              <Empty icon="clock" title={texts.emptyTitle} text={texts.empty} />
            )}
          </div>
        }
        row={(one) => [
          <What operation={one} />,
          ...(isOfAll ? [<SiteOf operation={one} />] : []),
          <span class={`state ${one.state}`}>
            {one.pausedAt ? texts.paused : (texts.states[one.state] ?? one.state)}
          </span>,
          <time dateTime={one.createdAt}>{timeOf(one.createdAt)}</time>,
          <OperationActions of={one} onChange={operations.reload} />,
        ]}
      />
      <CursorPages next={operations.got.value?.next} />
    </>
  )
}

function What({ operation }: { readonly operation: Operation }) {
  const { steps, state, progress, error, accountEmail, pausedAt } = operation
  const title = operationTitle(operation)
  const step = currentStep(steps)
  return (
    <>
      <b>{title}</b>
      <span class="sub">{texts.by(accountEmail)}</span>
      {state === 'running' && <progress max={100} value={progress} aria-label={texts.progressOf(title)} />}
      {pausedAt && <span class="sub">{texts.pausedSince(timeOf(pausedAt))}</span>}
      {step && state === 'running' && !pausedAt && <span class="sub">{texts.step(step, progress)}</span>}
      {error && <p class="fault">{error}</p>}
      {steps.map(
        ({ name, warning }) =>
          warning && (
            <p key={name} class="small">
              {warning}
            </p>
          ),
      )}
    </>
  )
}

function SiteOf({ operation: { siteId, siteName } }: { readonly operation: Operation }) {
  if (siteId === null) return <span class="quiet">{texts.noSite}</span>
  if (!siteName) return <span class="quiet">{texts.deletedSite}</span>
  return (
    <a class="name" href={`#/sites/${siteId}/operations`}>
      {siteName}
    </a>
  )
}

export const OperationsPage = () => (
  <>
    <div class="head">
      <h1>{texts.title}</h1>
    </div>
    <Operations />
  </>
)
