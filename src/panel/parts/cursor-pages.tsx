import { query, route } from '../route.ts'
import { cursorTexts as texts } from '../texts/parts.ts'
import { filterOf, PLACE } from './filters.tsx'

/** Returns `after` of the API for the page in the address, or 0 for the first entries. */
export const placeShown = (): number => Number(filterOf(PLACE)) || 0

/** Links to the next and the first entries. Each page has an address, so that the browser's back button works. */
export function CursorPages(props: { readonly next: number | undefined; readonly isOldestFirst?: boolean }) {
  const { next, isOldestFirst } = props
  if (next === undefined && placeShown() === 0) return null
  const at = (place: string): string => {
    const asked = new URLSearchParams(query.value)
    if (place) asked.set(PLACE, place)
    else asked.delete(PLACE)
    return `#/${route.value.map(encodeURIComponent).join('/')}${asked.size ? `?${asked}` : ''}`
  }
  return (
    <nav class="row pager" aria-label={texts.pages}>
      {placeShown() > 0 && (
        <a class="button" href={at('')}>
          {isOldestFirst ? texts.first : texts.newest}
        </a>
      )}
      {next !== undefined && (
        <a class="button" href={at(String(next))}>
          {isOldestFirst ? texts.next : texts.older}
        </a>
      )}
    </nav>
  )
}
