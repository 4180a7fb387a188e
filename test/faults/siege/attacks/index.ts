import type { Attack } from './attack.ts'
import { changes, orders } from './changes.ts'
import { deepTrees } from './deep-trees.ts'
import { endlessOutput } from './endless-output.ts'
import { eventStreams } from './event-streams.ts'
import { files } from './files.ts'
import { longHeads, longQueries } from './long-requests.ts'
import { memory } from './memory.ts'
import { outgoing } from './outgoing.ts'
import { processor } from './processor.ts'
import { silentNames } from './silent-names.ts'
import { slowReaders } from './slow-readers.ts'
import { unfinishedPosts } from './unfinished-posts.ts'

/** Together 500 connections. */
export const attacks: readonly Attack[] = [
  endlessOutput,
  memory,
  files,
  deepTrees,
  silentNames,
  slowReaders,
  unfinishedPosts,
  longQueries,
  longHeads,
  eventStreams,
  processor,
  outgoing,
  changes,
  orders,
]
