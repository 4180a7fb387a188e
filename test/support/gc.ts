import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What collects garbage now: what is still there after it is held by something. */
export function openGc(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
