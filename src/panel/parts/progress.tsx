import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { currentStep } from '../texts/operation-names.ts'
import { progressTexts as texts } from '../texts/parts.ts'
import { followOperation, type Operation } from './work.ts'

/** The progress of an operation, step by step, on the page that it concerns. */
export function Progress(props: { readonly id: number; readonly about: string; onEnd?(operation: Operation): void }) {
  const operation = useSignal<Operation | undefined>(undefined)
  useEffect(
    () =>
      followOperation(props.id, (seen) => {
        operation.value = seen
        if (seen.finishedAt) props.onEnd?.(seen)
      }),
    [props.id],
  )
  return (
    <div class="sheet" role="status" aria-live="polite">
      <WorkState about={props.about} operation={operation.value} />
    </div>
  )
}

/** The purpose of an operation, its progress, and why it failed. */
export function WorkState({ about, operation }: { readonly about: string; readonly operation: Operation | undefined }) {
  const { state = 'queued', progress = 0, steps = [], error, results } = operation ?? {}
  const current = currentStep(steps)
  return (
    <>
      <div class="row spread">
        <b>{about}</b>
        <span class={`state ${state}`}>{texts.states[state]}</span>
      </div>
      {!operation?.finishedAt && <progress max={100} value={progress} aria-label={about} />}
      {current && (
        <p class="quiet small" aria-hidden="true">
          {texts.step(current, progress)}
        </p>
      )}
      {error && <p class="fault">{error}</p>}
      {steps.map(
        ({ name, warning }) =>
          warning && (
            <p key={name} class="small">
              {warning}
            </p>
          ),
      )}
      {results && results.length > 0 && <Results of={results} />}
    </>
  )
}

/** The result for each site, if there were several. */
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
