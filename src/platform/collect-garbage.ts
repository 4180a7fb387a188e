import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options?: { type: 'major'; flavor: 'last-resort' }) => void

let collect: Collect | undefined

/** Node offers it with a flag that can be set later. */
function collector(): Collect {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as Collect
  }
  return collect
}

export const collectGarbage = (): void => collector()()

/** Collects also what V8 keeps to be fast if it should be needed again, such as the compiled form of functions that ran once. */
export const collectAllGarbage = (): void => collector()({ type: 'major', flavor: 'last-resort' })
