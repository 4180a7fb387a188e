import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { processorMsOf, processTree, residentBytesOf, residentBytesOfOne, waitedMsOf } from './process-tree.ts'

it.skipIf(process.platform !== 'linux')(
  'returns how long a process waited for the processor, as Linux reports it',
  () => {
    const own = () => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1e6
    const before = own()
    const waited = waitedMsOf(process.pid)
    expect(waited).toBeGreaterThanOrEqual(before)
    expect(waitedMsOf(2 ** 30)).toBe(0)
  },
)

it.skipIf(process.platform !== 'linux')(
  'returns the processor time of a process, of those below it, and of those that it has awaited',
  async () => {
    const busy = '(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done)'
    const shell = spawn('/bin/sh', ['-c', `${busy}; echo done; read -r _`])
    try {
      await once(shell.stdout, 'data')
      // The shell itself did nothing.
      const inner = Number(readFileSync(`/proc/${shell.pid}/stat`, 'utf8').split(' ')[15])
      expect(inner).toBeGreaterThan(0)
      expect(processorMsOf(shell.pid as number)).toBeGreaterThanOrEqual(inner * 10)
      expect(processorMsOf(2 ** 30)).toBe(0)
    } finally {
      shell.stdin.end()
    }
  },
)

it.skipIf(process.platform !== 'linux')(
  'lists all processes below a process, and measures the memory of each',
  async () => {
    const shell = spawn('/bin/sh', ['-c', 'sh -c "echo begun; read -r _; :"; :'])
    try {
      await once(shell.stdout, 'data')
      const tree = processTree(shell.pid as number)
      expect(tree).toHaveLength(2)
      const each = tree.map(residentBytesOfOne)
      expect(Math.min(...each)).toBeGreaterThan(100_000)
      expect(await residentBytesOf(shell.pid as number)).toBe((each[0] as number) + (each[1] as number))
    } finally {
      shell.stdin.end()
    }
    await once(shell, 'exit')
    expect(residentBytesOfOne(shell.pid as number)).toBe(0)
  },
)
