import { setTimeout as pause } from 'node:timers/promises'
import type { Harm } from './harm.ts'

const HOUR_S = 3600

/** Sets the machine's clock an hour back or ahead, and resets it some seconds later. */
export const moveClock: Harm = {
  name: 'clock set by an hour',
  share: 3,
  kills: 0,
  isSlow: true,
  missing: ({ clock }) => (clock ? undefined : 'libfaketime is not installed (Debian: libfaketime)'),
  async run({ clock }, chance) {
    await clock?.set(chance.pick([-HOUR_S, HOUR_S]))
    try {
      await pause(chance.between(4000, 12_000))
    } finally {
      await clock?.set(0)
    }
  },
}
