import type { LeftOut } from '../../../hosting/site-files/file-content.ts'
import { someOf } from '../../../platform/some-of.ts'

const MOST_NAMED = 20
const LONGEST_NAME = 200

/** What a file backup omits of a site: the count, and the first paths. */
export interface LeftOutTally {
  readonly count: number
  readonly first: readonly LeftOut[]
}

/** Counts omissions, and keeps the first. */
export class LeftOutCount implements LeftOutTally {
  count = 0
  readonly first: LeftOut[] = []

  add({ path, why }: LeftOut): void {
    this.count++
    if (this.first.length < MOST_NAMED) this.first.push({ path: path.slice(0, LONGEST_NAME), why })
  }
}

const words = {
  kind: 'not a file, folder or link',
  link: 'a link that may point outside the site',
  name: 'a name that is not UTF-8',
  depth: 'a path that is too long',
  'other file system': 'a folder of another file system',
  unreadable: 'a folder that cannot be read',
} as const satisfies Record<LeftOut['why'], string>

const SHOWN = 3

/** Describes the omissions for users. Returns undefined if the backup has everything. */
export function describeLeftOut({ count, first }: LeftOutTally): string | undefined {
  if (count === 0) return undefined
  const named = first.slice(0, SHOWN).map(({ path, why }) => `${JSON.stringify(path)} (${words[why]})`)
  return `Not in the backup: ${someOf(named, SHOWN, { count })}`
}
