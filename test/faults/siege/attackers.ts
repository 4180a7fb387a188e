/**
 * All attackers, in a process of its own at the lowest priority: what is tested are Stead's bounds, not how two cores are shared
 * between a server and whoever loads it. Started by `siege.ts`, which sends the target and the names of the attacks.
 */
import { setPriority } from 'node:os'
import type { Target } from './attacks/attack.ts'
import { tried } from './attacks/hostile.ts'
import { attacks } from './attacks/index.ts'

setPriority(19)
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
