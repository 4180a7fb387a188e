import type { Chance } from '../../../support/seeded.ts'
import { moveClock } from './clock.ts'
import type { Harm } from './harm.ts'
import { killAll, killPart, killPhp, killSupervisor } from './kill.ts'
import { loseCommits, restartDatabase } from './lost-commits.ts'
import { suspend } from './suspend.ts'

export const harms: readonly Harm[] = [
  killPhp,
  killPart('host', 12),
  killPart('control', 12),
  killPart('edge', 10),
  killSupervisor,
  killAll,
  suspend,
  moveClock,
  loseCommits,
  restartDatabase,
]

/** Yields each harm as often as its share, in random order, again and again: 60 kills include every kind. */
export function* decks(possible: readonly Harm[], chance: Chance): Generator<Harm> {
  const deck = possible.flatMap((harm) => Array<Harm>(harm.share).fill(harm))
  while (deck.length > 0) yield* chance.shuffled(deck)
}
