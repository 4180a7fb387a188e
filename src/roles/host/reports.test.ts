import { expect, it } from 'vitest'
import { noLog } from '../../platform/log/log.ts'
import type { ProcessContext } from '../process-context.ts'
import { type HostReport, startReports } from './reports.ts'

it('tells the supervisor why a host cannot record its state, until it can', async () => {
  let isFull = false
  const database = {
    dialect: 'sqlite',
    async transaction() {
      if (isFull) throw new Error('database or disk is full')
      return true
    },
  }
  const said: HostReport[] = []
  const reports = await startReports({ database, log: noLog } as unknown as ProcessContext, {
    ...{ hostId: 1, epoch: 1, name: 'one', facts: () => ({}) },
    say: (report) => said.push(report),
  })
  await reports.stop()
  isFull = true
  await expect(reports.report()).rejects.toThrow('disk is full')
  await expect(reports.report()).rejects.toThrow('disk is full')
  isFull = false
  await reports.report()
  await reports.report()
  const full = 'database or disk is full'
  expect(said.map(({ fault }) => fault)).toEqual([undefined, undefined, full, full, undefined])
})

it('forgets what it knows before it says that the host must not serve any longer', async () => {
  const order: string[] = []
  let isOurs = true
  const read = {
    selectFrom: () => read,
    select: () => read,
    where: () => read,
    executeTakeFirst: async () => undefined,
  }
  const database = { dialect: 'sqlite', read, transaction: async () => isOurs }
  const reports = await startReports({ database, log: noLog } as unknown as ProcessContext, {
    ...{ hostId: 1, epoch: 1, name: 'one', facts: () => ({}) },
    async onRefused() {
      await new Promise(setImmediate)
      order.push('forgotten')
    },
  })
  const told = reports.fault.then(({ message }) => order.push(message.slice(0, 15)))
  isOurs = false
  await reports.report()
  await told
  await reports.stop()
  expect(order).toEqual(['forgotten', 'one was started'])
})
