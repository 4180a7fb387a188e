import { useSignal } from '@preact/signals'
import type { components } from '../../../sdk/api.generated.ts'
import { api, ask } from '../../api.ts'
import { useLoad } from '../../parts/use-load.ts'
import { sitesTexts as texts } from '../../texts/sites.ts'

type Site = components['schemas']['FoundSite'] | components['schemas']['ListedSite']
type Environment = components['schemas']['EnvironmentOfLiveSite']

/** The environments of the sites on a page, and which of them each line shows. */
export interface EnvironmentsOfPage {
  /** Returns what the line of a live site shows: the site, or one of its environments. */
  shownOf(live: Site): Site
  /** Returns the choices of the line that shows a site. Empty without environments. */
  choicesOf(shown: Site): readonly { readonly id: number; readonly text: string }[]
  /** Lets a line show another of its choices. */
  show(from: Site, to: number): void
}

/** @param ids the live sites of a page, at most 100 */
export function useEnvironments(ids: readonly number[]): EnvironmentsOfPage {
  const read = async () =>
    ids.length === 0
      ? { data: [] as Environment[] }
      : ask(() => api.GET('/v1/environments', { params: { query: { site_ids: ids.join() } } }))
  const all = useLoad<Environment[]>(read, [ids.join()]).got.value?.data ?? []
  /** Environments that are shown, by live site. */
  const shown = useSignal<ReadonlyMap<number, number>>(new Map())
  const liveOf = ({ id }: Site): number => all.find(({ site }) => site.id === id)?.liveSiteId ?? id
  return {
    shownOf: (live) =>
      all.find(({ liveSiteId, site }) => liveSiteId === live.id && site.id === shown.value.get(live.id))?.site ?? live,
    choicesOf(site) {
      const own = all.filter(({ liveSiteId }) => liveSiteId === liveOf(site))
      if (own.length === 0) return []
      return [
        { id: liveOf(site), text: texts.live },
        ...own.map((one) => ({ id: one.site.id, text: textOf(one, own) })),
      ]
    },
    show(from, to) {
      shown.value = new Map(shown.value).set(liveOf(from), to)
    },
  }
}

const textOf = ({ site }: Environment, { length: count }: readonly Environment[]): string =>
  count === 1 && site.staging ? texts.staging : site.displayName

/** Switches a line of the list between a live site and its environments. */
export function SwitchInList({ of, environments }: { readonly of: Site; readonly environments: EnvironmentsOfPage }) {
  const choices = environments.choicesOf(of)
  if (choices.length === 0) return null
  return (
    <select
      class="sm"
      aria-label={texts.environmentOf(of.displayName)}
      value={`${of.id}`}
      onChange={({ currentTarget }) => environments.show(of, Number(currentTarget.value))}
    >
      {choices.map(({ id, text }) => (
        <option key={id} value={`${id}`}>
          {text}
        </option>
      ))}
    </select>
  )
}
