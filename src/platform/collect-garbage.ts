import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options?: { type: 'major'; flavor: 'last-resort' }) => void

let collect: Collect | undefined

/** Returns Node's collector, which a flag enables that can also be set later. */
function collector(): Collect {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as Collect
  }
  return collect
}

export const collectGarbage = (): void => collector()()

/** Also frees caches that V8 keeps for speed, such as the compiled form of functions that ran once. */
export const collectAllGarbage = (): void => collector()({ type: 'major', flavor: 'last-resort' })
