import { type Signal, useSignal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import type { components, operations } from '../../sdk/api.generated.ts'
import { api, ask } from '../api.ts'
import { rightsTexts as texts } from '../texts/parts.ts'
import { useLoad } from './use-load.ts'

/** An operation of the API, or one field of its body that needs its own right. */
export type Right = keyof operations | `${keyof operations} ${string}`

interface Withheld {
  readonly what: string
  readonly reason: string
}

interface Rights {
  /** Why not, in the API's own words. */
  readonly refusals: ReadonlyMap<string, string>
  /** The actions that the page would offer to a person with more rights. */
  readonly withheld: Signal<ReadonlySet<Withheld>>
}

const Here = createContext<Rights | undefined>(undefined)

const none: Rights['refusals'] = new Map()

/** A page that offers what the person may do, and lists at its end what is hidden, and why. */
export function Offered({
  refusals = none,
  children,
}: {
  readonly refusals?: Rights['refusals']
  readonly children: ComponentChildren
}) {
  const withheld = useSignal<ReadonlySet<Withheld>>(new Set())
  return (
    <Here.Provider value={{ refusals, withheld }}>
      {children}
      <LeftOut of={withheld} />
    </Here.Provider>
  )
}

const readRights = (id: number) => ask(() => api.GET('/v1/sites/{id}/rights', { params: { path: { id } } }))

/** Provides the rights on a site: its content offers what the person may do there. */
export function SiteRights({ id, children }: { readonly id: number; readonly children: ComponentChildren }) {
  const rights = useLoad(() => readRights(id), [id])
  const known = rights.got.value?.data
  if (!known) return <p class={rights.fault.value ? 'fault' : 'quiet'}>{rights.fault.value || texts.reading}</p>
  return <Offered refusals={refusalsOf(known)}>{children}</Offered>
}

const refusalsOf = (rights: readonly components['schemas']['SiteRight'][]): Rights['refusals'] =>
  new Map(
    rights
      .filter(({ allowed }) => !allowed)
      .map(({ operation, field, reason }) => [field ? `${operation} ${field}` : operation, reason ?? '']),
  )

/** The most sites whose rights are read before an action on all of them. With more, the API refuses at each site. */
const MOST_READ = 20

/** Provides the rights on several sites: its content offers what the person may do on at least one of them. */
export function SitesRights({
  ids,
  children,
}: {
  readonly ids: readonly number[]
  readonly children: ComponentChildren
}) {
  // Reads each site once while any are selected: one more costs one more request.
  const { current: known } = useRef(new Map<number, Rights['refusals']>())
  const rights = useLoad(async () => {
    if (ids.length > MOST_READ) return { data: [] }
    const unknown = ids.filter((id) => !known.has(id))
    await Promise.allSettled(unknown.map(async (id) => known.set(id, refusalsOf((await readRights(id)).data))))
    // A deleted site counts as both allowed and refused.
    return { data: ids.flatMap((id) => known.get(id) ?? []) }
  }, [ids.join()])
  const [first, ...others] = rights.got.value?.data ?? []
  const refusals = [...(first ?? [])].filter(([right]) => others.every((each) => each.has(right)))
  return <Offered refusals={new Map(refusals)}>{children}</Offered>
}

/**
 * Returns the rights on another site that was chosen on the page.
 * @returns `reason` says why not; `isKnown` says that the API has answered
 */
export function useRefusalOn(
  siteId: number | undefined,
  right: Right,
): { readonly isKnown: boolean; readonly reason: string | undefined } {
  const rights = useLoad(async () => {
    const refusals = siteId === undefined ? [] : (await readRights(siteId)).data
    return { data: { siteId, refusals } }
  }, [siteId])
  const got = rights.got.value?.data
  if (rights.fault.value) return { isKnown: true, reason: rights.fault.value }
  const found = got?.refusals.find(({ operation, field }) => operation === right && field === null)
  return { isKnown: got !== undefined && got.siteId === siteId, reason: found?.reason ?? undefined }
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

/**
 * @param what the name for people who ask why it is hidden
 * @param refusal if the subject itself says why not
 * @returns why not, or `undefined` when it is allowed
 */
export function useRefusal(right: Right | undefined, what: string, refusal?: string | null): string | undefined {
  const here = useContext(Here)
  const reason = refusal ?? (right && here?.refusals.get(right))
  const withheld = here?.withheld
  // Before the first paint, so that the page says why not as soon as it hides it.
  useLayoutEffect(() => {
    if (!withheld || reason === undefined) return
    const entry = { what, reason }
    withheld.value = new Set(withheld.peek()).add(entry)
    return () => {
      withheld.value = new Set([...withheld.peek()].filter((each) => each !== entry))
    }
  }, [withheld, what, reason])
  return reason
}

/**
 * Returns why the person may not do something, without showing it on the page.
 * @returns `undefined` when it is allowed
 */
export const useRefused = (right: Right): string | undefined => useContext(Here)?.refusals.get(right)

/** Shows its content only to people who have the right. */
export function May(props: { readonly do: Right; readonly what: string; readonly children: ComponentChildren }) {
  return useRefusal(props.do, props.what) === undefined ? props.children : null
}

/** A part of a page that needs a right to read it, and says so without that right. */
export function Allowed({ to, children }: { readonly to: Right | undefined; readonly children: ComponentChildren }) {
  const reason = to && useContext(Here)?.refusals.get(to)
  return reason === undefined ? children : <p class="quiet">{reason}</p>
}
