import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bubblewrap } from './bubblewrap.ts'

const module = join(import.meta.dirname, 'bubblewrap.ts')
const args = ['--ro-bind', '/', '/', '--unshare-user', '--unshare-pid', 'echo', 'inside']
const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups']
const ambient = ['--inh-caps=+net_bind_service', '--ambient-caps=+net_bind_service']
/** Whether a user other than root can have a sandbox here, which some containers forbid. */
const isPossible =
  process.getuid?.() === 0 && existsSync('/usr/bin/setpriv') && worksHere([...asNobody, 'bwrap', ...args])

test('starts bubblewrap directly when this process has no ambient capabilities', () => {
  expect(bubblewrap(args)).toEqual({ command: 'bwrap', args })
})

test.skipIf(!isPossible)('starts bubblewrap in a service with ambient capabilities, which it refuses otherwise', () => {
  const script = `import { bubblewrap } from ${JSON.stringify(module)}
    import { execFileSync } from 'node:child_process'
    const { command, args } = bubblewrap(${JSON.stringify(args)})
    process.stdout.write(execFileSync(command, args))`
  const node = [process.execPath, '--input-type=module', '-e', script]
  expect(execFileSync('setpriv', [...asNobody, ...ambient, ...node], { encoding: 'utf8' })).toBe('inside\n')
  expect(worksHere([...asNobody, ...ambient, 'bwrap', ...args])).toBe(false)
})

function worksHere(words: readonly string[]): boolean {
  try {
    execFileSync('setpriv', words, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
