import type { Route } from '../route.ts'
import type { Visit } from '../visit.ts'
import type { Disk } from './disk.ts'
import type { Fill } from './fill.ts'
import type { Garbage } from './garbage.ts'
import type { PageAddress } from './key.ts'
import type { KnownDifferences } from './known-differences.ts'
import type { Memory } from './memory.ts'
import type { PageCacheOptions } from './page-cache.ts'
import type { RequestFacts } from './request-facts.ts'
import type { CopyMaker } from './send-entry.ts'
import type { Selected } from './vary.ts'
import type { Worth } from './worth.ts'

/** What the parts of the cache share. */
export interface Cache {
  readonly options: Required<Omit<PageCacheOptions, 'disk'>> & { readonly disk: Disk }
  readonly memory: Memory
  readonly fills: Map<string, Fill>
  readonly differences: KnownDifferences
  readonly worth: Worth
  readonly maker: CopyMaker
  readonly garbage: Garbage
}

/** What is known of one visit to the cache. */
export interface Ask {
  readonly visit: Visit
  /** How many requests to the host it has waited for in vain. */
  readonly waits: number
  readonly route: Route
  readonly facts: RequestFacts
  readonly address: PageAddress
  /** What is looked for: the address, or the copy of it that is this visitor's. */
  readonly key: string
  /** Where the address has several copies. */
  readonly selected: Selected | undefined
}
