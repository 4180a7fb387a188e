import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns a garbage collector that runs at once: what survives it is still referenced. */
export function openGc(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
