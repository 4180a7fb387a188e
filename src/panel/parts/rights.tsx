import { type Signal, useSignal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { operations } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { rightsTexts as texts } from '../texts/parts.ts'
import { useLoad } from './use-load.ts'

/** An operation of the API; with a field of its body that needs a right of its own, if that is what is meant. */
export type Right = keyof operations | `${keyof operations} ${string}`

interface Withheld {
  readonly what: string
  readonly reason: string
}

interface Rights {
  /** In the API's own words, why not. */
  readonly refusals: ReadonlyMap<string, string>
  /** What the page would have offered. */
  readonly withheld: Signal<ReadonlySet<Withheld>>
}

const Here = createContext<Rights | undefined>(undefined)

/** What stands in it offers what the person may do with the site, and says at its end what is left out, and why. */
export function SiteRights({ id, children }: { readonly id: number; readonly children: ComponentChildren }) {
  const rights = useLoad(() => ask(() => api.GET('/v1/sites/{id}/rights', { params: { path: { id } } })), [id])
  const withheld = useSignal<ReadonlySet<Withheld>>(new Set())
  const known = rights.got.value?.data
  if (!known) return <p class={rights.fault.value ? 'fault' : 'quiet'}>{rights.fault.value || texts.reading}</p>
  const refused = known.filter(({ allowed }) => !allowed)
  const refusals = new Map(
    refused.map(({ operation, field, reason }) => [field ? `${operation} ${field}` : operation, reason ?? '']),
  )
  return (
    <Here.Provider value={{ refusals, withheld }}>
      {children}
      <LeftOut of={withheld} />
    </Here.Provider>
  )
}

function LeftOut({ of }: { readonly of: Rights['withheld'] }) {
  const reasons = new Map([...of.value].map(({ what, reason }) => [what, reason]))
  if (reasons.size === 0) return null
  return (
    <details class="quiet">
      <summary>{texts.leftOut(reasons.size)}</summary>
      <dl>
        {[...reasons].map(([what, reason]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{reason}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** @param what as people call it, for who asks why it is not there @returns why not; `undefined` when it may be done */
export function useRefusal(right: Right | undefined, what: string): string | undefined {
  const here = useContext(Here)
  const reason = right && here?.refusals.get(right)
  const withheld = here?.withheld
  useEffect(() => {
    if (!withheld || reason === undefined) return
    const entry = { what, reason }
    withheld.value = new Set(withheld.peek()).add(entry)
    return () => {
      withheld.value = new Set([...withheld.peek()].filter((each) => each !== entry))
    }
  }, [withheld, what, reason])
  return reason
}

/** What is offered to those alone who may do it. */
export function May(props: { readonly do: Right; readonly what: string; readonly children: ComponentChildren }) {
  return useRefusal(props.do, props.what) === undefined ? props.children : null
}

/** A part of a page that cannot even be read without a right: says so in its place. */
export function Allowed({ to, children }: { readonly to: Right | undefined; readonly children: ComponentChildren }) {
  const reason = to && useContext(Here)?.refusals.get(to)
  return reason === undefined ? children : <p class="quiet">{reason}</p>
}
