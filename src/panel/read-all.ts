import type { Got } from './api.ts'

/** A list that is read page by page. */
interface Pages<Row, Place> {
  read(place: Place): Promise<Got<readonly Row[]>>
  /** Where the list begins. */
  readonly first: Place
  /** Where the page after this one begins. */
  nextOf(page: Got<readonly Row[]>): Place | undefined
  readonly most: number
}

/** Reads a list to its end, or until it has the most rows. */
export async function readAll<Row, Place>({
  read,
  first,
  nextOf,
  most,
}: Pages<Row, Place>): Promise<{ readonly rows: readonly Row[]; readonly isCut: boolean }> {
  const rows: Row[] = []
  for (let place: Place | undefined = first; place !== undefined; ) {
    const page: Got<readonly Row[]> = await read(place)
    rows.push(...page.data)
    place = nextOf(page)
    if (place !== undefined && rows.length >= most) return { rows: rows.slice(0, most), isCut: true }
  }
  return { rows: rows.slice(0, most), isCut: rows.length > most }
}
