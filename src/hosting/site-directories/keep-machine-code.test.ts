import { beforeEach, expect, test, vi } from 'vitest'
import type { PhpProcess } from '../php/runtime.ts'
import { keepMachineCode, type MachineCodeParts } from './keep-machine-code.ts'
import type { Template } from './template.ts'

const keep = vi.fn()
const remove = vi.fn()
const startSpare = vi.fn()
beforeEach(() => vi.resetAllMocks())

function partsWith(makeThrowAway: () => unknown = () => ({ id: 1 })): MachineCodeParts {
  return {
    runtime: {
      machineCode: { isMissing: () => true, keep },
      containment: () => ({ runtimes: { '8.3': 'wasm' } }),
    },
    siteDirectories: { makeThrowAway: async () => makeThrowAway(), phpSite: () => ({}), remove },
    pool: { startSpare },
  } as unknown as MachineCodeParts
}

test('stops without waiting for the current page: its process ends, and nothing is kept', async () => {
  const asked = Promise.withResolvers<void>()
  const { promise: request, reject } = Promise.withResolvers<never>()
  const stop = vi.fn(async () => reject(new Error('PHP was stopped')))
  const process: Partial<PhpProcess> = {
    request: () => {
      asked.resolve()
      return request
    },
    machineCode: async () => Buffer.alloc(1),
    stop,
  }
  startSpare.mockResolvedValue(process)
  const end = new AbortController()
  const done = keepMachineCode(partsWith(), {} as Template, '8.3', end.signal)
  await asked.promise
  end.abort()
  expect(await done).toBe(false)
  expect(stop).toHaveBeenCalled()
  expect(keep).not.toHaveBeenCalled()
  expect(remove).toHaveBeenCalled()
})

test('stops without waiting until PHP is ready', async () => {
  const asked = Promise.withResolvers<void>()
  startSpare.mockImplementation((_site, { signal }: { signal: AbortSignal }) => {
    asked.resolve()
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const end = new AbortController()
  const done = keepMachineCode(partsWith(), {} as Template, '8.3', end.signal)
  await asked.promise
  end.abort()
  expect(await done).toBe(false)
  expect(remove).toHaveBeenCalled()
})

test('creates nothing after a stop, and starts no PHP', async () => {
  const makeThrowAway = vi.fn()
  expect(await keepMachineCode(partsWith(makeThrowAway), {} as Template, '8.3', AbortSignal.abort())).toBe(false)
  expect(makeThrowAway).not.toHaveBeenCalled()
  const end = new AbortController()
  const parts = partsWith(() => {
    end.abort()
    return { id: 1 }
  })
  expect(await keepMachineCode(parts, {} as Template, '8.3', end.signal)).toBe(false)
  expect(startSpare).not.toHaveBeenCalled()
  expect(remove).toHaveBeenCalled()
})
