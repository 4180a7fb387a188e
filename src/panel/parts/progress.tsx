import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { paths } from '../../sdk/api.generated.ts'

import { progressTexts as texts } from '../texts/parts.ts'

type Answered = paths['/v1/operations/{id}']['get']['responses'][200]['content']['application/json']
export type Operation = Answered['data']

/** Background work as it goes on, step by step, until it has ended. */
export function Progress(props: { readonly id: number; readonly about: string; onEnd?(operation: Operation): void }) {
  const operation = useSignal<Operation | undefined>(undefined)
  useEffect(() => {
    const stream = new EventSource(`/v1/operations/${props.id}/events`)
    stream.addEventListener('operation', ({ data }) => {
      const seen = JSON.parse(data) as Operation
      operation.value = seen
      if (!seen.finishedAt) return
      stream.close()
      props.onEnd?.(seen)
    })
    return () => stream.close()
  }, [props.id])
  const { state = 'queued', progress = 0, steps = [], error, results } = operation.value ?? {}
  const current = steps.find((step) => step.state === 'running')
  return (
    <div class="sheet" role="status" aria-live="polite">
      <div class="row spread">
        <span>{props.about}</span>
        <span class={`state ${state}`}>{state}</span>
      </div>
      <progress max={100} value={progress} aria-label={props.about} />
      {current && <p class="quiet">{current.name}</p>}
      {error && <p class="fault">{error}</p>}
      {results && results.length > 0 && <Results of={results} />}
    </div>
  )
}

/** What was done with each site, where it was about several. */
const Results = ({ of }: { readonly of: NonNullable<Operation['results']> }) => (
  <details>
    <summary>{texts.results(of.length)}</summary>
    <ul class="plain">
      {of.map((each) => (
        <li key={each.siteId}>
          <a href={`#/sites/${each.siteId}`}>{texts.site(each.siteId)}</a> {each.outcome}{' '}
          <span class="quiet">{each.message}</span>
        </li>
      ))}
    </ul>
  </details>
)
