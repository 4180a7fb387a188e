import { browserStores } from './browser-stores.ts'
import { type Machine, type Root, TrustFault, type TrustPlace } from './machine.ts'
import { systemStore } from './system-store.ts'

/** The requested change of trust in an authority. */
export type Wish = 'trust' | 'remove' | 'check'

/** The state of an authority in a store. */
export interface Standing {
  readonly authority: string
  readonly where: string
  /** Null if it cannot be determined. */
  readonly trusted: boolean | null
  /** The change, the reason why nothing changed, or the next step for the user. */
  readonly note: string
}

/** The stores to consider: the system's, those of the user's browsers, or both. */
export type Scope = 'system' | 'browsers' | undefined

/** Applies the request to every store of a machine that is not in that state yet. */
export async function changeTrust(
  machine: Machine,
  roots: readonly Root[],
  { wish, scope }: { readonly wish: Wish; readonly scope: Scope },
): Promise<Standing[]> {
  const places = [
    ...(scope === 'browsers' ? [] : [systemStore(machine)]),
    ...(scope === 'system' ? [] : await browserStores(machine)),
  ]
  const found: Standing[] = []
  // One after another, because programs that change stores may ask for a password.
  for (const root of roots) for (const place of places) found.push(await change(place, root, wish))
  return found
}

/** @returns whether a store is in the requested state */
export const isAsWished = ({ trusted }: Pick<Standing, 'trusted'>, wish: Wish): boolean =>
  trusted === (wish !== 'remove')

async function change(place: TrustPlace, root: Root, wish: Wish): Promise<Standing> {
  const standing = { authority: root.name, where: place.where }
  let held: Held | undefined
  try {
    held = await place.holds(root)
    const trusted = trustedOf(held)
    if (wish === 'check' || isAsWished({ trusted }, wish)) return { ...standing, trusted, note: noteOf(held) }
    if (wish === 'trust') await place.add(root)
    else await place.remove(root)
    held = await place.holds(root)
  } catch (error) {
    const isExpected = error instanceof TrustFault || (error as NodeJS.ErrnoException).code !== undefined
    if (!isExpected) throw error
    return { ...standing, trusted: trustedOf(held), note: (error as Error).message }
  }
  const trusted = trustedOf(held)
  return {
    ...standing,
    trusted,
    note: isAsWished({ trusted }, wish) ? done[wish] : 'it rejected the certificate without a reason',
  }
}

type Held = Awaited<ReturnType<TrustPlace['holds']>>

const trustedOf = (held: Held | undefined): boolean | null =>
  held === 'all' ? true : held === 'nothing' ? false : null

const noteOf = (held: Held): string => (held === 'part' ? 'a change was interrupted. Repeat the command' : '')

const done = { trust: 'from now on', remove: 'no more' } as const
