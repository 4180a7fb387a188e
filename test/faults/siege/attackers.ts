/**
 * All attackers, in a process of its own, behind Stead in priority and before PHP: what is tested are Stead's bounds, not how two cores
 * are shared between a server and whoever loads it; behind PHP they would hardly get to attack. Started as a session of its own by
 * `siege.ts`, which sends the target and the names of the attacks.
 */
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Target } from './attacks/attack.ts'
import { tried } from './attacks/hostile.ts'
import { attacks } from './attacks/index.ts'

const nice = 5
setPriority(nice)
try {
  writeFileSync('/proc/self/autogroup', String(nice))
} catch {
  // no sessions that are weighed (docs/design/php.md)
}
const ended = new AbortController()
setInterval(() => process.send?.(tried), 500)
process.on('disconnect', () => process.exit(0))
// a connection that Stead closes in the middle of whatever is the point of it
process.on('uncaughtException', () => {})
process.on('unhandledRejection', () => {})
process.on('message', async (message: { target: Target; names: string[] } | 'stop') => {
  if (message === 'stop') return ended.abort()
  const { target, names } = message
  const mine = attacks.filter(({ name }) => names.includes(name))
  await Promise.all(mine.map((attack) => attack.run(target, ended.signal).catch(() => {})))
  process.exit(0)
})
