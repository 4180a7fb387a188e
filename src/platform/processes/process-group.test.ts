import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { allProcesses, type RunningProcess } from '../../../test/support/processes.ts'
import { until } from '../../../test/support/stead.ts'
import { bubblewrap } from './bubblewrap.ts'
import { killGroup, startGroup } from './process-group.ts'

const mark = `stead-test-${process.pid}`
const unshare = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-net', '--die-with-parent']
const sandbox = (script: string) => bubblewrap([...unshare, '--ro-bind', '/', '/', 'sh', '-c', `${script} # ${mark}`])
const isOurs = ({ words }: RunningProcess) => words.some((word) => word.includes(mark))
const isPossible = worksHere()

test.skipIf(!isPossible)('leaves nothing of a sandbox that is ended while it starts', async () => {
  const { command, args } = sandbox('sleep 3600')
  for (let tries = 0; tries < 100; tries++) {
    const child = startGroup(command, args)
    const after = performance.now() + (tries % 50) / 4
    while (performance.now() < after);
    killGroup(child)
    await once(child, 'exit')
  }
  await until('none of them is left', () => !allProcesses().some(isOurs))
})

test('ends the rest of a group when its first process has ended', async () => {
  const child = startGroup('sh', ['-c', 'sleep 3600 &'])
  const [code] = await once(child, 'exit')
  expect(code).toBe(0)
  // its output ends with the last process that has it open
  await once(child, 'close')
})

test('ends nothing when a program has ended or could not be started', async () => {
  const ended = startGroup('true', [])
  await once(ended, 'close')
  killGroup(ended)
  const missing = startGroup('stead-test-missing', [])
  const [error] = await once(missing, 'error')
  expect(error).toMatchObject({ code: 'ENOENT' })
  killGroup(missing)
})

function worksHere(): boolean {
  try {
    const { command, args } = sandbox('true')
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
