/**
 * All attackers run in one process, below Stead in priority and above PHP: the test is about Stead's limits, not about
 * how two cores are shared between a server and its load. Below PHP they would hardly get to attack. `siege.ts` starts
 * it as a session of its own, and sends the target and the names of the attacks.
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
  // this kernel does not weigh sessions (docs/design/php.md)
}
const ended = new AbortController()
setInterval(() => process.send?.(tried), 500)
process.on('disconnect', () => process.exit(0))
// Stead closes connections in the middle of an attack, which is the point of it
process.on('uncaughtException', () => {})
process.on('unhandledRejection', () => {})
process.on('message', async (message: { target: Target; names: string[] } | 'stop') => {
  if (message === 'stop') return ended.abort()
  const { target, names } = message
  const mine = attacks.filter(({ name }) => names.includes(name))
  await Promise.all(mine.map((attack) => attack.run(target, ended.signal).catch(() => {})))
  process.exit(0)
})
